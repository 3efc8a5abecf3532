package dev.postrider.benchmarks.report;

import java.util.Locale;

/** Formats numbers for people: about three digits, thousands with commas. */
final class Numbers {

    private Numbers() {}

    static String text(double value) {
        double size = Math.abs(value);
        if (size >= 100 || value == 0) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        return String.format(Locale.ROOT, size >= 10 ? "%.1f" : size >= 0.1 ? "%.2f" : "%.4f", value);
    }

    /** The median, with minimum and maximum of the rounds. */
    static String spread(Samples samples) {
        return text(samples.median()) + " [" + text(samples.min()) + "–" + text(samples.max()) + "]";
    }
}
