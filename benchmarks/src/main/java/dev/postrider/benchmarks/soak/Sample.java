package dev.postrider.benchmarks.soak;

import java.util.List;

/**
 * How one subject did in one interval.
 *
 * @param second since the beginning
 * @param rate messages delivered per second
 * @param backlog written and not delivered at its end
 * @param looks how long the statements took that looked for messages, in microseconds
 * @param megabytes of its table with the indexes
 * @param history the same of what it keeps of delivered messages elsewhere
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

    /** What is done to the database meanwhile. */
    enum Phase {
        /** Nothing. */
        BASELINE,
        /** A snapshot is held. */
        HELD,
        /** It is gone again. */
        RECOVERY
    }

    /** Of what all of them looked, together: of a hundred looks the 99th percentile is the second longest. */
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
