package dev.postrider.retry;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;

/** Decides how long to wait after a failed attempt. Implementations must be pure functions and thread-safe. */
@FunctionalInterface
public interface RetryPolicy {

    /**
     * Returns the delay before the next attempt.
     *
     * @param attempts the number of attempts so far, at least 1
     * @param chance a random number, uniform in [0, 1), new for each call, for jitter
     */
    Duration delay(int attempts, double chance);

    /**
     * Returns exponential backoff with jitter: min(base · 2^(attempts−1), max), then uniform in the upper half of
     * this delay.
     *
     * @throws InvalidConfigurationException when base is below 1 ms, max is below base, or one of them is above 24
     *     days
     */
    static RetryPolicy exponential(Duration base, Duration max) {
        return new ExponentialBackoff(base, max);
    }

    /**
     * Returns a policy with a constant delay.
     *
     * @throws InvalidConfigurationException when the delay is negative or above 24 days
     */
    static RetryPolicy constant(Duration delay) {
        if (delay.isNegative() || delay.compareTo(ExponentialBackoff.LIMIT) > 0) {
            throw new InvalidConfigurationException(
                    "retry-delay",
                    "must lie between 0 and " + ExponentialBackoff.LIMIT.toDays() + " days, but is " + delay);
        }
        return (attempts, chance) -> delay;
    }
}
