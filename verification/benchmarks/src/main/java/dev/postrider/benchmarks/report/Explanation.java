package dev.postrider.benchmarks.report;

/** How the numbers are to be read, and how far they can be trusted. */
final class Explanation {

    private static final String TEXT =
            "Numbers are medians, with the least and the most of the rounds in brackets. Where it says so, the ratio is one of"
                    + " processor time of client and database server together, and the same ratio of rates stands beside it.";

    private Explanation() {}

    static String of(Report report) {
        return TEXT + Noise.of(report);
    }
}
