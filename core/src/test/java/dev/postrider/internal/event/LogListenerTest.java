package dev.postrider.internal.event;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.internal.MovedClock;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lines are an interface: people search for them and programs read them. */
final class LogListenerTest {

    private static final TopicName ORDERS = TopicName.of("orders");

    private final MovedClock time = new MovedClock();
    private final PrintStream before = System.err;
    private final ByteArrayOutputStream captured = new ByteArrayOutputStream();
    private final Message message = Message.to("orders")
            .type("order.placed")
            .tenant("acme")
            .idempotencyKey("acme/order-7")
            .text("secret payload")
            .build();
    private final String named = "id=" + message.id() + " key=acme/order-7 topic=orders";

    @BeforeEach
    void capture() {
        System.setErr(new PrintStream(captured, true, UTF_8));
    }

    @AfterEach
    void restore() {
        System.setErr(before);
    }

    @Test
    void batchesAreLoggedAtInfo() {
        assertThat(logged(new Event.Fetched(ORDERS, 100))).isEqualTo("INFO OUTBOX_WORKER_FETCH topic=orders count=100");
        assertThat(logged(new Event.Settled(5, 1, 0, 0, 3, 2, 0)))
                .isEqualTo(
                        "INFO OUTBOX_WORKER_SETTLE delivered=5 failed=1 dead=0 parked=0 expired=3 released=2 lost=0");
        assertThat(logged(new Event.Purged(1, 2, 3, 4)))
                .isEqualTo("INFO OUTBOX_WORKER_PURGE archived=1 dead=2 keys=3 inbox_marks=4");
        assertThat(logged(new Event.Summary(10, 2, 1, 3, 4, 0, 7, Duration.ofMinutes(1))))
                .isEqualTo(
                        "INFO OUTBOX_WORKER_SUMMARY delivered=10 failed=2 dead=1 parked=3 expired=4 lost=0 in_flight=7 period_s=60");
    }

    @Test
    void receivedMessagesAreLoggedWithTheirConsumer() {
        assertThat(logged(new Event.Processed("billing", message, Duration.ofMillis(12))))
                .isEqualTo("DEBUG INBOX_PROCESS consumer=billing " + named + " took_ms=12");
        assertThat(logged(new Event.DuplicateReceived("billing", message)))
                .isEqualTo("DEBUG INBOX_DUPLICATE consumer=billing " + named);
        assertThat(logged(new Event.Collided("billing", message)))
                .isEqualTo("WARN INBOX_COLLISION consumer=billing " + named);
        assertThat(logged(new Event.TooOldReceived("billing", message)))
                .isEqualTo("WARN INBOX_TOO_OLD consumer=billing " + named);
        assertThat(logged(new Event.Unhandled("billing", message)))
                .isEqualTo("WARN INBOX_NO_HANDLER consumer=billing " + named + " type=order.placed");
    }

    @Test
    void singleMessagesAreLoggedAtDebug() {
        assertThat(logged(new Event.Delivered(message, 1, Duration.ofMillis(12))))
                .isEqualTo("DEBUG OUTBOX_WORKER_DISPATCH_SUCCESS " + named + " attempt=1 took_ms=12");
        assertThat(logged(new Event.AlreadyFinished(message, 1)))
                .isEqualTo("DEBUG OUTBOX_WORKER_SKIP_PROCESSED id=" + message.id());
        assertThat(logged(new Event.LeaseLost(message, 3)))
                .isEqualTo("DEBUG OUTBOX_WORKER_LEASE_LOST " + named + " attempt=3");
        assertThat(logged(new Event.Released(message))).isEqualTo("DEBUG OUTBOX_WORKER_RELEASE " + named);
        assertThat(logged(new Event.Expired(message, 2, true)))
                .isEqualTo("DEBUG OUTBOX_WORKER_EXPIRE " + named + " expired_at=null attempts=2 removed=true");
    }

    @Test
    void whatAnOperatorShouldSeeIsLoggedAtWarn() {
        assertThat(logged(new Event.Settled(5, 0, 1, 0, 0, 0, 0)))
                .isEqualTo(
                        "WARN OUTBOX_WORKER_SETTLE delivered=5 failed=0 dead=1 parked=0 expired=0 released=0 lost=0");
        assertThat(logged(new Event.Settled(5, 0, 0, 1, 0, 0, 0)))
                .isEqualTo(
                        "WARN OUTBOX_WORKER_SETTLE delivered=5 failed=0 dead=0 parked=1 expired=0 released=0 lost=0");
        assertThat(logged(new Event.Settled(5, 0, 0, 0, 0, 0, 1))).startsWith("WARN OUTBOX_WORKER_SETTLE ");
        assertThat(logged(new Event.Swept(ORDERS, 2))).isEqualTo("WARN OUTBOX_WORKER_SWEEP topic=orders count=2");
        assertThat(logged(new Event.StoreFailed("claim orders", "gone away", Duration.ofMillis(50))))
                .isEqualTo("WARN OUTBOX_WORKER_STORE_FAIL doing=\"claim orders\" retry_ms=50 error=\"gone away\"");
    }

    @Test
    void failuresAreLoggedAtWarn() {
        Event.Failed failed = new Event.Failed(message, 2, 5, "503 busy", Duration.ofSeconds(10), null);
        assertThat(logged(failed))
                .isEqualTo("WARN OUTBOX_WORKER_DISPATCH_FAIL " + named
                        + " type=order.placed retry=2 max=5 next=2023-11-14T22:13:30Z delay_ms=10000 fingerprint="
                        + failed.fingerprint() + " error=\"503 busy\"");
        Event.Buried buried = new Event.Buried(message, 5, 5, "ATTEMPTS_EXHAUSTED", "503", null);
        assertThat(logged(buried))
                .isEqualTo("WARN OUTBOX_WORKER_DEAD " + named
                        + " type=order.placed retry=5 max=5 reason=ATTEMPTS_EXHAUSTED fingerprint="
                        + buried.fingerprint() + " error=503");
        Event.Parked parked = new Event.Parked(message, 1, 5, "FAILED", "503", null);
        assertThat(logged(parked))
                .isEqualTo("WARN OUTBOX_WORKER_PARK " + named
                        + " type=order.placed attempt=1 max=5 reason=FAILED fingerprint=" + parked.fingerprint()
                        + " error=503");
        Event.CommandFailed command = new Event.CommandFailed("pay", new UUID(1, 2), 3, "declined");
        assertThat(logged(command))
                .isEqualTo("WARN COMMAND_FAIL op=pay ref=" + new UUID(1, 2) + " attempt=3 fingerprint="
                        + command.fingerprint() + " error=declined");
    }

    @Test
    void failuresLikeTheFirstAreCountedUntilTheSummary() {
        LogListener listener = new LogListener(time);
        Event.Failed failed = new Event.Failed(message, 1, 5, "503 busy", Duration.ZERO, null);
        String counted = "topic=orders fingerprint=" + failed.fingerprint() + " error=\"503 busy\"";

        assertThat(linesOf(listener, failed))
                .singleElement()
                .asString()
                .startsWith("WARN OUTBOX_WORKER_DISPATCH_FAIL ");
        for (int i = 0; i < 412; i++) {
            assertThat(linesOf(listener, failed))
                    .singleElement()
                    .asString()
                    .startsWith("DEBUG OUTBOX_WORKER_DISPATCH_FAIL ");
        }
        assertThat(linesOf(listener, new Event.Summary(0, 413, 0, 0, 0, 0, 0, Duration.ofMinutes(1))))
                .first()
                .isEqualTo("WARN OUTBOX_WORKER_DISPATCH_FAIL_MORE \"... and 412 more like it\" count=412 " + counted);
        assertThat(linesOf(listener, new Event.Summary(0, 0, 0, 0, 0, 0, 0, Duration.ofMinutes(1))))
                .hasSize(1);
    }

    @Test
    void failuresLikeTheFirstAreCountedForAMinuteWhateverTheNextEventIs() {
        LogListener listener = new LogListener(time);
        Event.CommandFailed failed = new Event.CommandFailed("pay", new UUID(1, 2), 1, "declined");
        linesOf(listener, failed);
        linesOf(listener, failed);
        assertThat(linesOf(listener, new Event.Released(message))).hasSize(1);

        time.pass(Duration.ofMinutes(1));

        assertThat(linesOf(listener, new Event.Released(message)))
                .hasSize(2)
                .first()
                .isEqualTo("WARN COMMAND_FAIL_MORE \"... and 1 more like it\" count=1 op=pay fingerprint="
                        + failed.fingerprint() + " error=declined");
    }

    @Test
    void failuresOfTooManyKindsAreCountedTogether() {
        LogListener listener = new LogListener(time);
        for (int i = 0; i < FailureLimiter.MOST_FINGERPRINTS; i++) {
            linesOf(listener, new Event.Failed(message, 1, 5, "x".repeat(i + 1), Duration.ZERO, null));
        }
        linesOf(listener, new Event.Failed(message, 1, 5, "one more", Duration.ZERO, null));

        assertThat(linesOf(listener, new Event.Summary(0, 201, 0, 0, 0, 0, 0, Duration.ofMinutes(1))))
                .first()
                .isEqualTo("WARN OUTBOX_WORKER_DISPATCH_FAIL_MORE \"... and 1 more of other kinds\" count=1");
    }

    /** The stack trace of every failure, since this logger is at debug. */
    @Test
    void exceptionOfAHandlerHasItsStackTraceWithoutSecrets() {
        LogListener listener = new LogListener(time);
        Exception thrown = new IllegalStateException("password=hunter2\nINFO forged=1");
        Event.Failed failed = new Event.Failed(message, 1, 5, "boom", Duration.ZERO, thrown);

        for (String level : new String[] {"WARN", "DEBUG"}) {
            assertThat(linesOf(listener, failed))
                    .hasSizeGreaterThan(3)
                    .noneMatch(line -> line.contains("hunter2"))
                    .noneMatch(line -> line.startsWith("INFO"))
                    .startsWith(
                            level + " OUTBOX_WORKER_DISPATCH_FAIL " + named
                                    + " type=order.placed retry=1 max=5 next=2023-11-14T22:13:20Z delay_ms=0 fingerprint="
                                    + failed.fingerprint() + " error=boom",
                            "java.lang.IllegalStateException: password=*** INFO forged=1");
        }
    }

    @Test
    void duplicateIsLoggedAtInfoAndADifferentPayloadUnderTheSameKeyAtWarn() {
        String duplicate = "OUTBOX_WORKER_DUPLICATE tenant=acme key=acme/order-7 topic=orders first=" + message.id();
        assertThat(logged(new Event.Duplicate(message, message.id(), true)))
                .isEqualTo("INFO " + duplicate + " same_payload=true");
        assertThat(logged(new Event.Duplicate(message, message.id(), false)))
                .isEqualTo("WARN " + duplicate + " same_payload=false");
    }

    @Test
    void messageWithoutATenantIsNotOneOfATenantCalledNull() {
        Message alone = Message.to("orders").type("x").text("y").build();

        assertThat(logged(new Event.Duplicate(alone, alone.id(), true)))
                .startsWith("INFO OUTBOX_WORKER_DUPLICATE tenant=\"\" key=" + alone.id());
    }

    @Test
    void nothingFromOutsideBreaksALine() {
        String hostile = "a\r\nINFO forged=1\u0085b\u2028c\u2029d\u0000e\u001B[31mf\u007Fg\u009Bh\u202Ei";

        for (Event event : new Event[] {
            new Event.Failed(message, 1, 5, hostile, Duration.ZERO, null),
            new Event.Buried(message, 1, 5, hostile, hostile, null),
            new Event.Parked(message, 1, 5, hostile, hostile, null),
            new Event.StoreFailed(hostile, hostile, Duration.ZERO)
        }) {
            assertThat(logged(event))
                    .hasSizeLessThan(2000)
                    .matches(line -> line.codePoints().noneMatch(Character::isISOControl), "no control character")
                    .doesNotContain("\u2028", "\u2029", "\u202E", "[31m");
        }
    }

    @Test
    void fieldCannotBeForgedByAValueWithBlanksOrQuotes() {
        String forged = "x\" max=99 y";

        assertThat(logged(new Event.Failed(message, 1, 5, forged, Duration.ZERO, null)))
                .endsWith("error=\"x' max=99 y\"");
    }

    @Test
    void longAndSecretValuesAreCutAndRedacted() {
        String error = "password=hunter2 " + "x".repeat(100_000);
        String line = logged(new Event.Failed(message, 1, 5, error, Duration.ZERO, null));

        assertThat(line).hasSizeLessThan(800).doesNotContain("hunter2");
    }

    @Test
    void payloadsAreNeverLogged() {
        for (Event event : new Event[] {
            new Event.Delivered(message, 1, Duration.ZERO),
            new Event.Failed(message, 1, 5, "x", Duration.ZERO, null),
            new Event.LeaseLost(message, 1),
            new Event.Released(message)
        }) {
            assertThat(logged(event)).doesNotContain("payload");
        }
    }

    /** The level and the text of the one line that the event made. */
    private String logged(Event event) {
        List<String> lines = linesOf(new LogListener(time), event);
        assertThat(lines).hasSize(1);
        return lines.get(0);
    }

    private List<String> linesOf(LogListener listener, Event event) {
        captured.reset();
        listener.on(event);
        return captured.toString(UTF_8)
                .strip()
                .lines()
                .map(line -> line.replaceFirst("^\\[[^]]*] ", "").replaceFirst(" " + LogListener.LOGGER + " - ", " "))
                .toList();
    }
}
