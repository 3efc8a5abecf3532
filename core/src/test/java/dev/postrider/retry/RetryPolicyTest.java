package dev.postrider.retry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {

    private static final double ALMOST_ONE = Math.nextDown(1.0);

    private final RetryPolicy policy = RetryPolicy.exponential(Duration.ofSeconds(2), Duration.ofMinutes(10));

    @ParameterizedTest
    @CsvSource({
        "1, PT1S, PT2S",
        "2, PT2S, PT4S",
        "3, PT4S, PT8S",
        "4, PT8S, PT16S",
        "9, PT4M16S, PT8M32S",
        "10, PT5M, PT10M",
        "11, PT5M, PT10M",
        "63, PT5M, PT10M",
        "64, PT5M, PT10M",
        "65, PT5M, PT10M",
        "2147483647, PT5M, PT10M"
    })
    void eachDelayLiesInTheUpperHalfOfItsStep(int attempts, Duration least, Duration most) {
        assertThat(policy.delay(attempts, 0)).isEqualTo(least);
        assertThat(policy.delay(attempts, ALMOST_ONE)).isEqualTo(most);
        assertThat(policy.delay(attempts, 0.5)).isEqualTo(least.plus(most).dividedBy(2));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void attemptsBelowOneCountAsOne(int attempts) {
        assertThat(policy.delay(attempts, 0)).isEqualTo(policy.delay(1, 0));
    }

    @Test
    void theLongestDelaysDoNotOverflow() {
        RetryPolicy longest = RetryPolicy.exponential(Duration.ofDays(24), Duration.ofDays(24));

        assertThat(longest.delay(Integer.MAX_VALUE, ALMOST_ONE)).isEqualTo(Duration.ofDays(24));
        assertThat(longest.delay(1, 0)).isEqualTo(Duration.ofDays(12));
    }

    @Test
    void theShortestDelaysGrow() {
        RetryPolicy shortest = RetryPolicy.exponential(Duration.ofMillis(1), Duration.ofSeconds(1));

        assertThat(shortest.delay(1, 0)).isPositive();
        assertThat(shortest.delay(5, ALMOST_ONE)).isEqualTo(Duration.ofMillis(16));
    }

    @Test
    void delaysNeverShrinkFromStepToStep() {
        for (int attempts = 1; attempts < 100; attempts++) {
            assertThat(policy.delay(attempts + 1, 0)).isGreaterThanOrEqualTo(policy.delay(attempts, 0));
        }
    }

    /** Pearson's statistic over 50 buckets stays below its 99.9 % point (85.4 for 49 degrees of freedom). */
    @Test
    void chanceSpreadsDelaysEvenly() {
        int buckets = 50;
        int draws = 100_000;
        int[] counts = new int[buckets];
        SplittableRandom random = new SplittableRandom(20261115);
        for (int i = 0; i < draws; i++) {
            long millis = policy.delay(20, random.nextDouble()).toMillis();
            assertThat(millis).isBetween(300_000L, 600_000L);
            counts[(int) Math.min(buckets - 1, (millis - 300_000) * buckets / 300_000)]++;
        }
        double expected = (double) draws / buckets;
        double statistic = 0;
        for (int count : counts) {
            statistic += (count - expected) * (count - expected) / expected;
        }
        assertThat(statistic).isLessThan(85.4);
    }

    @ParameterizedTest
    @CsvSource({
        "PT0S, PT1S, base-delay",
        "PT-1S, PT1S, base-delay",
        "PT0.0009S, PT1S, base-delay",
        "PT2S, PT1S, max-delay",
        "PT1S, P25D, max-delay",
        "PT1S, PT2562047788015215H, max-delay",
        "P25D, P25D, base-delay",
        "PT2562047788015215H, PT2562047788015215H, base-delay"
    })
    void badConfigurationsNameTheProperty(Duration base, Duration max, String property) {
        assertThatThrownBy(() -> RetryPolicy.exponential(base, max))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo(property))
                .hasMessageStartingWith(property + " ");
    }

    @Test
    void aConstantDelayIsAlwaysTheSame() {
        RetryPolicy constant = RetryPolicy.constant(Duration.ofSeconds(7));

        assertThat(constant.delay(1, 0)).isEqualTo(Duration.ofSeconds(7));
        assertThat(constant.delay(Integer.MAX_VALUE, ALMOST_ONE)).isEqualTo(Duration.ofSeconds(7));
        assertThat(RetryPolicy.constant(Duration.ZERO).delay(1, 0)).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT-0.001S", "P25D", "PT2562047788015215H"})
    void aConstantDelayHasLimits(String delay) {
        assertThatThrownBy(() -> RetryPolicy.constant(Duration.parse(delay)))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.property()).isEqualTo("retry-delay"));
    }
}
