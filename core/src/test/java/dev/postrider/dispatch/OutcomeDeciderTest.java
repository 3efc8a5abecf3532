package dev.postrider.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.retry.RetryPolicy;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class OutcomeDeciderTest {

    private final OutcomeDecider decider = new OutcomeDecider(() -> 0.25);
    private final FakeStore store = new FakeStore();

    @Test
    void deliveredIsDelivered() {
        Claim claim = attempt(5);
        assertThat(decider.on(topic(seconds(10)), claim, DeliveryResult.delivered()))
                .isEqualTo(new Outcome.Delivered(claim));
    }

    @Test
    void rejectedIsBuriedOnTheFirstAttempt() {
        Claim claim = attempt(1);
        assertThat(decider.on(topic(seconds(10)), claim, DeliveryResult.rejected("no")))
                .isEqualTo(new Outcome.Buried(claim, DeadReason.REJECTED, "no"));
    }

    @Test
    void failedIsRetriedUntilTheLastAttempt() {
        Claim fourth = attempt(4);
        Claim fifth = attempt(5);
        assertThat(decider.on(topic(seconds(10)), fourth, DeliveryResult.failed("busy")))
                .isEqualTo(new Outcome.Retry(fourth, Duration.ofSeconds(10), "busy"));
        assertThat(decider.on(topic(seconds(10)), fifth, DeliveryResult.failed("busy")))
                .isEqualTo(new Outcome.Buried(fifth, DeadReason.ATTEMPTS_EXHAUSTED, "busy"));
        assertThat(decider.on(topic(seconds(10)), attempt(99), DeliveryResult.failed("busy")))
                .as("the limit was lowered meanwhile")
                .isInstanceOf(Outcome.Buried.class);
    }

    @Test
    void policyIsAskedWithTheAttemptAndAChance() {
        List<String> asked = new ArrayList<>();
        RetryPolicy policy = (attempts, chance) -> {
            asked.add(attempts + " " + chance);
            return Duration.ofSeconds(attempts);
        };
        assertThat(delay(policy, 3, null)).isEqualTo(Duration.ofSeconds(3));
        assertThat(asked).containsExactly("3 0.25");
    }

    @Test
    void longerRetryAfterWins() {
        assertThat(delay(seconds(10), 1, Duration.ofSeconds(60))).isEqualTo(Duration.ofSeconds(60));
    }

    @Test
    void shorterNegativeOrMissingRetryAfterChangesNothing() {
        assertThat(delay(seconds(10), 1, Duration.ofSeconds(5))).isEqualTo(Duration.ofSeconds(10));
        assertThat(delay(seconds(10), 1, Duration.ofSeconds(-5))).isEqualTo(Duration.ofSeconds(10));
        assertThat(delay(seconds(10), 1, null)).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void noDelayIsLongerThanThirtyDays() {
        assertThat(delay(seconds(10), 1, Duration.ofSeconds(Long.MAX_VALUE))).isEqualTo(Duration.ofDays(30));
        assertThat(delay((attempts, chance) -> Duration.ofDays(1_000_000), 1, null))
                .isEqualTo(Duration.ofDays(30));
    }

    @Test
    @SuppressWarnings("NullAway") // a policy written without it
    void policyThatDoesNotWorkCostsTheMessageAMinute() {
        Duration minute = Duration.ofMinutes(1);
        assertThat(delay((attempts, chance) -> null, 1, null)).isEqualTo(minute);
        assertThat(delay((attempts, chance) -> Duration.ofSeconds(-1), 1, null)).isEqualTo(minute);
        assertThat(delay(
                        (attempts, chance) -> {
                            throw new IllegalStateException("bug");
                        },
                        1,
                        null))
                .isEqualTo(minute);
        assertThat(delay(
                        (attempts, chance) -> {
                            throw new StackOverflowError();
                        },
                        1,
                        null))
                .isEqualTo(minute);
    }

    @Test
    void noAnswerAtAllIsAFailure() {
        assertThat(decider.on(topic(seconds(10)), attempt(1), null))
                .isInstanceOfSatisfying(
                        Outcome.Retry.class,
                        retry -> assertThat(retry.error()).isEqualTo("The transport gave no answer"));
    }

    @Test
    @SuppressWarnings("NullAway") // a transport written without it
    void missingErrorTextIsReplaced() {
        assertThat(decider.on(topic(seconds(10)), attempt(1), DeliveryResult.failed(null)))
                .isInstanceOfSatisfying(
                        Outcome.Retry.class,
                        retry -> assertThat(retry.error()).isEqualTo("The transport gave no reason"));
        assertThat(decider.on(topic(seconds(10)), attempt(1), DeliveryResult.rejected(null)))
                .isInstanceOfSatisfying(
                        Outcome.Buried.class,
                        buried -> assertThat(buried.error()).isEqualTo("The transport gave no reason"));
    }

    private Duration delay(RetryPolicy policy, int attempt, @Nullable Duration retryAfter) {
        Outcome outcome = decider.on(topic(policy), attempt(attempt), new DeliveryResult.Failed("busy", retryAfter));
        return ((Outcome.Retry) outcome).delay();
    }

    private Claim attempt(int attempt) {
        return store.next("orders", attempt);
    }

    private static RetryPolicy seconds(int seconds) {
        return RetryPolicy.constant(Duration.ofSeconds(seconds));
    }

    private static Topic topic(RetryPolicy policy) {
        return Topic.named("orders").deliver(delivery -> {}).retry(policy).build();
    }
}
