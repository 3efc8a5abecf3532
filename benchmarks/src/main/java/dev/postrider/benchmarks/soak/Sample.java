package dev.postrider.benchmarks.soak;

import java.util.List;

/**
 * How one subject did in one interval.
 *
 * @param second since the beginning
 * @param rate messages delivered per second
 * @param backlog written and not delivered at its end
 * @param looks how many statements looked for messages, and their median and 99th percentile in microseconds
 * @param megabytes of its table with the indexes
 * @param history the same of what it keeps of delivered messages elsewhere
 */
record Sample(
        Phase phase,
        long second,
        double rate,
        long backlog,
        int looks,
        long lookMedian,
        long lookP99,
        double megabytes,
        double history,
        long deadRows) {

    /** What is done to the database meanwhile. */
    enum Phase {
        /** Nothing. */
        BASELINE,
        /** A snapshot is held. */
        HELD,
        /** It is gone again. */
        RECOVERY
    }

    static long percentile(List<Long> sorted, double part) {
        return sorted.isEmpty() ? 0 : sorted.get((int) Math.min(sorted.size() - 1L, Math.round(part * sorted.size())));
    }
}
