package dev.postrider.benchmarks.report;

import java.util.Locale;

/** The figures as a table for a terminal. */
public final class TextTable {

    private TextTable() {}

    public static String of(Report report) {
        StringBuilder text = new StringBuilder();
        report.environment()
                .forEach((name, value) -> text.append(String.format(Locale.ROOT, "%-24s %s%n", name, value)));
        text.append(System.lineSeparator());
        text.append(row("figure", "value", "aim", "met", "against"));
        for (Figure figure : report.figures()) {
            text.append(row(
                    figure.name(),
                    Numbers.spread(figure.ratio()),
                    figure.aim().toString(),
                    figure.isMet() ? "yes" : "NO",
                    figure.against()));
        }
        report.unavailable()
                .forEach((names, reason) ->
                        text.append(String.format(Locale.ROOT, "NOT MEASURED %s: %s%n", names, reason)));
        report.failed()
                .forEach((names, reason) -> text.append(String.format(Locale.ROOT, "FAILED %s: %s%n", names, reason)));
        return text.toString();
    }

    private static String row(String figure, String value, String aim, String met, String against) {
        return String.format(Locale.ROOT, "%-46s %-28s %-8s %-4s %s%n", figure, value, aim, met, against);
    }
}
