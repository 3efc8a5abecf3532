package dev.postrider.benchmarks.report;

import org.jspecify.annotations.Nullable;

/**
 * One row of the report: a ratio between two systems measured in the same rounds.
 *
 * @param ours the system of Postrider
 * @param against the system that the ratio refers to
 * @param byRate the same ratio of rates, where processor time decides
 * @param chart its raw figures
 */
public record Figure(
        String name,
        Rival rival,
        Aim aim,
        Samples ratio,
        String ours,
        String against,
        @Nullable Samples byRate,
        Chart chart)
        implements Result {

    /** What Postrider is compared with. */
    public enum Rival {
        OTHER_LIBRARY,
        HAND_WRITTEN,
        /** Postrider without the condition that the figure is about. */
        ITSELF,
        /** Nothing: the value stands for itself. */
        NONE
    }

    public double value() {
        return ratio.median();
    }

    public boolean isMet() {
        return aim.isMetBy(value());
    }

    /** Whether some rounds met the aim and others did not, so that the noise decided. */
    boolean isWithinNoise() {
        return aim.isMetBy(ratio.min()) != aim.isMetBy(ratio.max());
    }

    /** Above 1 where Postrider is better, below where it is worse. */
    double advantage() {
        return aim.isMinimum() ? value() : 1 / value();
    }
}
