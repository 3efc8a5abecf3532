package dev.postrider.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.internal.ErrorText;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

final class EventTest {

    private static final Message MESSAGE =
            Message.to("orders").type("order.placed").text("x").build();
    private static final TopicName ORDERS = TopicName.of("orders");

    /** Each kind of event that tells of an error. */
    private static final Map<Class<? extends Event>, Function<String, Event>> WITH_ERROR = Map.of(
            Event.Failed.class, error -> new Event.Failed(MESSAGE, 1, 5, error, Duration.ZERO, thrown(error)),
            Event.Buried.class, error -> new Event.Buried(MESSAGE, 5, 5, "REJECTED", error, thrown(error)),
            Event.Parked.class, error -> new Event.Parked(MESSAGE, 5, 5, "REJECTED", error, thrown(error)),
            Event.CircuitOpened.class, error -> new Event.CircuitOpened(ORDERS, 100, Duration.ZERO, error),
            Event.StoreFailed.class, error -> new Event.StoreFailed("claim", error, Duration.ZERO),
            Event.CommandFailed.class, error -> new Event.CommandFailed("pay", new UUID(1, 2), 1, error));

    @Test
    void errorThatListenersGetHasNoSecretsAndNoLineBreaks() {
        WITH_ERROR.forEach((kind, event) -> assertThat(
                        event.apply("refused: password=hunter2\r\nfor ann").toString())
                .as(kind.getSimpleName())
                .contains("refused: password=*** for ann")
                .doesNotContain("hunter2", "\n"));
    }

    @Test
    void causeIsTheExceptionItselfAndIsShownAsItsClass() {
        Exception cause = thrown("boom");
        Event.Failed failed = new Event.Failed(MESSAGE, 1, 5, "boom", Duration.ZERO, cause);

        assertThat(failed.cause()).isSameAs(cause);
        assertThat(failed).asString().endsWith("error=boom, delay=PT0S, cause=java.io.IOException]");
        assertThat(new Event.Buried(MESSAGE, 5, 5, "REJECTED", "no", null))
                .asString()
                .endsWith("reason=REJECTED, error=no, cause=none]");
    }

    @Test
    void fingerprintIsEqualForErrorsThatDifferInNumbersOnly() {
        Event.Buried one = new Event.Buried(MESSAGE, 5, 5, "REJECTED", "order 17 is gone", null);
        Event.Buried other = new Event.Buried(MESSAGE, 5, 5, "REJECTED", "order 18 is gone", null);
        Event.Buried third = new Event.Buried(MESSAGE, 5, 5, "REJECTED", "customer 18 is gone", null);

        assertThat(one.fingerprint()).hasSize(16).isEqualTo(other.fingerprint()).isNotEqualTo(third.fingerprint());
        assertThat(one.fingerprint()).isEqualTo(ErrorText.fingerprint("REJECTED", "order 17 is gone"));
    }

    private static Exception thrown(String message) {
        return new IOException(message);
    }

    @Test
    void everyEventWithAnErrorIsTested() {
        assertThat(WITH_ERROR.keySet())
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(Event.class.getPermittedSubclasses())
                        .filter(EventTest::tellsOfAnError)
                        .<Class<? extends Event>>map(kind -> kind.asSubclass(Event.class))
                        .toList());
    }

    private static boolean tellsOfAnError(Class<?> kind) {
        return Arrays.stream(kind.getRecordComponents())
                .map(RecordComponent::getName)
                .anyMatch("error"::equals);
    }
}
