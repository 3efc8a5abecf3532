package dev.postrider.idempotency;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;

/** How long operations take on this node, on average, and what that means for those who should ask again. Thread-safe. */
final class Pace {

    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final double WEIGHT = 0.2;

    /** Operations are few; this many would be keys in disguise. */
    private static final int MOST = 1000;

    private final DoubleSupplier chance;
    private final Map<String, Double> nanos = new ConcurrentHashMap<>();

    /** @param chance uniform in [0, 1) */
    Pace(DoubleSupplier chance) {
        this.chance = chance;
    }

    void took(String operation, long took) {
        if (nanos.size() < MOST || nanos.containsKey(operation)) {
            nanos.merge(operation, (double) took, (before, now) -> before + WEIGHT * (now - before));
        }
    }

    /** The average, but at least a second and no more than what is left of the lease; then a quarter more or less. */
    Duration retryAfter(String operation, Duration leaseLeft) {
        long usual = nanos.getOrDefault(operation, 0.0).longValue();
        long bounded = Math.max(Math.min(usual, leaseLeft.toNanos()), LEAST.toNanos());
        long jitter = (long) ((chance.getAsDouble() - 0.5) * bounded / 2);
        return Duration.ofNanos(Math.max(bounded + jitter, LEAST.toNanos()));
    }
}
