package dev.postrider.retry;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;

/** How long to wait after a failed attempt. Implementations are pure functions and thread-safe. */
@FunctionalInterface
public interface RetryPolicy {

    /**
     * The delay before the next attempt.
     *
     * @param attempts how many attempts were made so far, at least 1
     * @param chance uniform in [0, 1), drawn anew for each call, for policies that spread their retries
     */
    Duration delay(int attempts, double chance);

    /** min(base · 2^(attempts−1), max), then uniform in the upper half of it. */
    static RetryPolicy exponential(Duration base, Duration max) {
        return new ExponentialBackoff(base, max);
    }

    /** Always the same delay. */
    static RetryPolicy constant(Duration delay) {
        if (delay.isNegative() || delay.compareTo(ExponentialBackoff.LIMIT) > 0) {
            throw new InvalidConfigurationException(
                    "retry-delay",
                    "must lie between 0 and " + ExponentialBackoff.LIMIT.toDays() + " days, but is " + delay);
        }
        return (attempts, chance) -> delay;
    }
}
