package dev.postrider.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.Postrider;
import dev.postrider.message.Message;
import dev.postrider.retry.RetryPolicy;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.PermanentFailureException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an application whose log level is warn shows of failed deliveries. */
class FailureLogTest {

    private static final RetryPolicy LATER = RetryPolicy.constant(Duration.ofMinutes(10));

    private final PrintStream before = System.err;
    private final ByteArrayOutputStream captured = new ByteArrayOutputStream();

    @BeforeEach
    void capture() {
        System.setErr(new PrintStream(captured, true, UTF_8));
    }

    @AfterEach
    void restore() {
        System.setErr(before);
    }

    @Test
    void eachKindOfFailureHasALineWithTopicTypeIdAttemptAndError() throws Exception {
        List<Message> messages = Stream.of("refused", "timeout", "no such address")
                .map(error -> Message.to("mail").type("mail.due").text(error).build())
                .toList();

        deliver(messages, delivery -> {
            throw new IllegalStateException(delivery.message().payload().asText());
        });

        List<String> lines = lines("OUTBOX_WORKER_DISPATCH_FAIL ");
        assertThat(lines).hasSize(3);
        for (Message message : messages) {
            assertThat(lines)
                    .anySatisfy(line -> assertThat(line)
                            .contains(
                                    " WARN dev.postrider.outbox - OUTBOX_WORKER_DISPATCH_FAIL id=" + message.id()
                                            + " key=",
                                    " topic=mail type=mail.due retry=1 max=10 next=",
                                    " error=\"java.lang.IllegalStateException: "
                                            + message.payload().asText() + "\""));
        }
        assertThat(lines("\tat " + FailureLogTest.class.getName() + ".lambda$"))
                .as("the stack trace of each handler's exception")
                .hasSize(3);
    }

    @Test
    void failuresThatAreAlikeHaveOneLineAndACount() throws Exception {
        deliver(numbered(5), delivery -> {
            throw new IllegalStateException(
                    "connection " + delivery.message().payload().asText() + " refused");
        });

        assertThat(lines("OUTBOX_WORKER_DISPATCH_FAIL ")).hasSize(1);
        assertThat(lines("OUTBOX_WORKER_DISPATCH_FAIL_MORE "))
                .singleElement()
                .asString()
                .contains("\"... and 4 more like it\" count=4 topic=mail fingerprint=");
        assertThat(lines("java.lang.IllegalStateException: connection ").stream()
                        .filter(line -> !line.contains("OUTBOX_WORKER")))
                .as("stack traces")
                .hasSize(1);
    }

    @Test
    void deadLettersHaveALineEach() throws Exception {
        deliver(numbered(5), delivery -> {
            throw new PermanentFailureException("no such address");
        });

        assertThat(lines("OUTBOX_WORKER_DEAD "))
                .hasSize(5)
                .allMatch(line -> line.contains(" reason=REJECTED fingerprint="));
        assertThat(lines("\tat " + FailureLogTest.class.getName() + ".lambda$"))
                .as("the stack trace of the first")
                .hasSize(1);
    }

    private static List<Message> numbered(int count) {
        return Stream.iterate(1, n -> n + 1)
                .limit(count)
                .map(n -> Message.to("mail").type("mail.due").text("" + n).build())
                .toList();
    }

    private static void deliver(List<Message> messages, DeliveryHandler handler) throws Exception {
        Shop shop = Shop.open();
        Postrider postrider = Postrider.on(shop.dataSource())
                .topic("mail", topic -> topic.deliver(handler).maxAttempts(10).retry(LATER))
                .build();
        postrider.migrate();
        postrider.inTransaction(work -> work.stage(messages));
        postrider.deliverDue();
    }

    private List<String> lines(String part) {
        return captured.toString(UTF_8)
                .lines()
                .filter(line -> line.contains(part))
                .toList();
    }
}
