package dev.postrider.benchmarks.report;

/** How the numbers are to be read, and how far they can be trusted. */
public final class Explanation {

    /** The name of the entry of the environment that says who used the processors: the largest source of noise. */
    public static final String PROCESSORS_USED = "processors used";

    private static final String TEXT =
            "Numbers are medians, with the least and the most of the rounds in brackets. A ratio in processor time is"
                    + " one of client and database server together, and the same ratio of rates stands beside it.";

    private Explanation() {}

    static String of(Report report) {
        String used = report.environment().get(PROCESSORS_USED);
        return TEXT + Noise.of(report) + (used == null ? "" : " Use of the processors: " + used + ".");
    }
}
