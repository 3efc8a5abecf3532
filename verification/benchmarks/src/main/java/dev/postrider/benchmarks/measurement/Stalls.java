package dev.postrider.benchmarks.measurement;

import java.util.List;

/**
 * When the control of a latency measurement stood still.
 *
 * @param delays the times in which its thread should have run and did not
 * @param pauses the pauses of the garbage collector, which are known to the millisecond
 */
record Stalls(List<Span> delays, List<Span> pauses) {

    /** A time span, by {@link System#nanoTime}. */
    record Span(long from, long to) {

        long within(long start, long end) {
            return Math.max(Math.min(to, end) - Math.max(from, start), 0);
        }
    }

    Stalls {
        delays = List.copyOf(delays);
        pauses = List.copyOf(pauses);
    }

    /** For how long the thread was late in this time. */
    double delayedMillis(long from, long to) {
        return millis(delays, from, to);
    }

    /** For how long the garbage collector paused the process in this time. */
    double pausedMillis(long from, long to) {
        return millis(pauses, from, to);
    }

    double longestDelayMillis() {
        return longest(delays);
    }

    double longestPauseMillis() {
        return longest(pauses);
    }

    private static double millis(List<Span> spans, long from, long to) {
        return spans.stream().mapToLong(span -> span.within(from, to)).sum() / 1e6;
    }

    private static double longest(List<Span> spans) {
        return spans.stream().mapToLong(span -> span.to() - span.from()).max().orElse(0) / 1e6;
    }
}
