package dev.postrider.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.event.Event;
import dev.postrider.internal.MovedClock;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class RollingWindowTest {

    private static final TopicName ORDERS = TopicName.of("orders");

    private final MovedClock time = new MovedClock();
    private final RollingWindow window = new RollingWindow(Duration.ofMinutes(5), time);
    private final Message message =
            Message.to(ORDERS).type("order.placed").json("{}").build();

    private void delivered() {
        window.on(new Event.Delivered(message, 1, Duration.ofMillis(3)));
    }

    private void failed(String error) {
        window.on(new Event.Failed(message, 1, 5, error, Duration.ofSeconds(10), null));
    }

    @Test
    void attemptsAreCountedByTopic() {
        delivered();
        failed("timeout");
        window.on(new Event.Buried(message, 5, 5, "REJECTED", "400", null));
        window.on(new Event.Parked(message, 5, 5, "FAILED", "400", null));

        assertThat(window.topics()).containsOnlyKeys(ORDERS);
        RollingWindow.Attempts attempts = Objects.requireNonNull(window.topics().get(ORDERS));
        assertThat(attempts.delivered()).isEqualTo(1);
        assertThat(attempts.failed()).isEqualTo(3);
        assertThat(attempts.failureRatio()).isEqualTo(0.75);
    }

    @Test
    void errorsThatDifferInNumbersAreOneError() {
        failed("refused");
        failed("timeout after 31 ms");
        failed("timeout after 47 ms");

        RollingWindow.Attempts attempts = Objects.requireNonNull(window.topics().get(ORDERS));
        assertThat(attempts.frequentError()).isEqualTo("timeout after 31 ms");
        assertThat(attempts.frequentErrorCount()).isEqualTo(2);
    }

    @Test
    void attemptsLeaveTheWindow() {
        failed("timeout");
        time.pass(Duration.ofMinutes(3));
        delivered();
        time.pass(Duration.ofMinutes(3));

        RollingWindow.Attempts attempts = Objects.requireNonNull(window.topics().get(ORDERS));
        assertThat(attempts.failureRatio()).isZero();
        time.pass(Duration.ofMinutes(3));
        assertThat(window.topics()).isEmpty();
    }

    @Test
    void memoryIsBoundedWhenEveryErrorDiffers() {
        for (int i = 0; i < 1000; i++) {
            failed("error " + "x".repeat(i % 100));
        }

        RollingWindow.Attempts attempts = Objects.requireNonNull(window.topics().get(ORDERS));
        assertThat(attempts.failed()).isEqualTo(1000);
        assertThat(attempts.frequentErrorCount()).isEqualTo(10);
    }
}
