package dev.postrider.benchmarks.report;

import java.util.Locale;

/** The minimum or maximum that a figure should have. */
public record Aim(boolean isMinimum, double bound) {

    public static Aim atLeast(double bound) {
        return new Aim(true, bound);
    }

    public static Aim atMost(double bound) {
        return new Aim(false, bound);
    }

    boolean isMetBy(double value) {
        return isMinimum ? value >= bound : value <= bound;
    }

    @Override
    public String toString() {
        String number = bound == Math.rint(bound)
                ? String.format(Locale.ROOT, "%.0f", bound)
                : String.format(Locale.ROOT, "%.2f", bound);
        return (isMinimum ? "≥ " : "≤ ") + number;
    }
}
