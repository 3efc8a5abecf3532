package dev.postrider.retry;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;

/** Exponential backoff with equal jitter: one half of the delay is fixed, the other half is random. */
record ExponentialBackoff(Duration base, Duration max) implements RetryPolicy {

    /** The longest delay. 2^31 milliseconds are 24 days. The limit also keeps every product below within a long. */
    static final Duration LIMIT = Duration.ofDays(24);

    private static final int MAX_DOUBLINGS = 31;

    ExponentialBackoff {
        // Delays are counted in milliseconds: a shorter base would be 0, and stay 0 when doubled.
        if (base.compareTo(Duration.ofMillis(1)) < 0 || base.compareTo(LIMIT) > 0) {
            throw new InvalidConfigurationException(
                    "base-delay", "must be at least 1 ms and at most " + LIMIT.toDays() + " days, but is " + base);
        }
        if (max.compareTo(base) < 0) {
            throw new InvalidConfigurationException(
                    "max-delay", "(" + max + ") must not be below base-delay (" + base + ")");
        }
        if (max.compareTo(LIMIT) > 0) {
            throw new InvalidConfigurationException(
                    "max-delay", "must be at most " + LIMIT.toDays() + " days, but is " + max);
        }
    }

    @Override
    public Duration delay(int attempts, double chance) {
        int doublings = Math.min(Math.max(attempts, 1) - 1, MAX_DOUBLINGS);
        double grown = (double) base.toMillis() * (double) (1L << doublings);
        double delay = Math.min(Math.max(grown, 1), (double) max.toMillis());
        return Duration.ofMillis(Math.round(delay / 2 + chance * delay / 2));
    }
}
