package dev.postrider.idempotency;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.DoubleSupplier;

/** Estimates when a caller should retry, from the average run time of each operation on this node. Thread-safe. */
final class RetryAfterEstimate {

    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration LONGEST = Duration.ofDays(1);
    private static final double WEIGHT = 0.2;

    /** An application has few operations. More names than this would mean that keys are used as operation names. */
    private static final int MOST = 1000;

    private final DoubleSupplier chance;
    private final Map<String, Double> nanos = new ConcurrentHashMap<>();

    /** @param chance uniform in [0, 1) */
    RetryAfterEstimate(DoubleSupplier chance) {
        this.chance = chance;
    }

    void took(String operation, long took) {
        if (nanos.size() < MOST || nanos.containsKey(operation)) {
            nanos.merge(operation, (double) took, (before, now) -> before + WEIGHT * (now - before));
        }
    }

    /**
     * The average run time, limited to the rest of the lease, to at most one day and to at least one second. Then a
     * jitter of plus or minus a quarter is added; the result is never less than one second.
     */
    Duration retryAfter(String operation, Duration leaseLeft) {
        long usual = nanos.getOrDefault(operation, 0.0).longValue();
        Duration within = leaseLeft.compareTo(LONGEST) < 0 ? leaseLeft : LONGEST;
        long bounded = Math.max(Math.min(usual, within.toNanos()), LEAST.toNanos());
        long jitter = (long) ((chance.getAsDouble() - 0.5) * bounded / 2);
        return Duration.ofNanos(Math.max(bounded + jitter, LEAST.toNanos()));
    }
}
