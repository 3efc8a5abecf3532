package dev.postrider.checker;

import java.util.Arrays;
import java.util.Locale;

/** Percentiles of times in microseconds. */
final class Percentiles {

    private final long[] sorted;

    Percentiles(Longs values) {
        sorted = new long[values.size()];
        Arrays.setAll(sorted, values::get);
        Arrays.sort(sorted);
    }

    int count() {
        return sorted.length;
    }

    /** The percentile in milliseconds, as a text; a dash if there are no values. */
    String at(double share) {
        return sorted.length == 0 ? "–" : millis(sorted[(int) Math.min(sorted.length - 1, share * sorted.length)]);
    }

    String longest() {
        return at(1);
    }

    static String millis(long micros) {
        return String.format(Locale.ROOT, micros < 10_000 ? "%.1f ms" : "%.0f ms", micros / 1000.0);
    }
}
