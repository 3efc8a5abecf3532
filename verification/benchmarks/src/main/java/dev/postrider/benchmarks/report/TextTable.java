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
        text.append(row("figure", "value", "aim", "met", "by rate", "against"));
        for (Figure figure : report.figures()) {
            Samples byRate = figure.byRate();
            text.append(row(
                    figure.name(),
                    Numbers.spread(figure.ratio()),
                    figure.aim().toString(),
                    figure.isMet() ? "yes" : "NO",
                    byRate == null ? "" : Numbers.spread(byRate),
                    figure.against()));
        }
        text.append(System.lineSeparator());
        Omissions.of(report).forEach(line -> text.append(String.format(Locale.ROOT, "%s%n", line)));
        return text.append(Answer.of(report).verdict())
                .append(System.lineSeparator())
                .toString();
    }

    private static String row(String figure, String value, String aim, String met, String byRate, String against) {
        return String.format(Locale.ROOT, "%-46s %-24s %-8s %-4s %-24s %s%n", figure, value, aim, met, byRate, against);
    }
}
