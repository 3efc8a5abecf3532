package dev.postrider.benchmarks.soak;

import java.util.List;

/**
 * The measurements of one subject in one interval.
 *
 * @param second seconds since the beginning
 * @param rate messages delivered per second
 * @param backlog messages written and not delivered at the end of the interval
 * @param looks durations of the scans, in microseconds
 * @param megabytes the size of its table with the indexes
 * @param history the size of the other table in which it keeps delivered messages
 */
record Sample(
        Phase phase,
        long second,
        double rate,
        long backlog,
        List<Long> looks,
        double megabytes,
        double history,
        long deadRows) {

    /** The condition of the database. */
    enum Phase {
        /** No snapshot is open. */
        BASELINE,
        /** A snapshot is open. */
        HELD,
        /** The snapshot is closed again. */
        RECOVERY
    }

    /** The percentile over the scans of all samples together: of a hundred scans the 99th percentile is the second longest. */
    static long look(double part, List<Sample> samples) {
        long[] sorted = samples.stream()
                .flatMap(sample -> sample.looks().stream())
                .mapToLong(look -> look)
                .sorted()
                .toArray();
        return sorted.length == 0 ? 0 : sorted[(int) Math.max(Math.ceil(part * sorted.length) - 1, 0)];
    }

    long look(double part) {
        return look(part, List.of(this));
    }
}
