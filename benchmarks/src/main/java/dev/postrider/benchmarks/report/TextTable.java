package dev.postrider.benchmarks.report;

import java.util.Locale;

/** The figures for a terminal. */
public final class TextTable {

    private TextTable() {}

    public static String of(Report report) {
        StringBuilder text = new StringBuilder();
        report.environment().forEach((name, value) -> line(text, "%-24s %s", name, value));
        text.append('\n');
        line(text, "%-46s %-28s %-8s %-4s %s", "figure", "value", "aim", "met", "against");
        for (Figure figure : report.figures()) {
            line(
                    text,
                    "%-46s %-28s %-8s %-4s %s",
                    figure.name(),
                    Numbers.spread(figure.ratio()),
                    figure.aim(),
                    figure.isMet() ? "yes" : "NO",
                    figure.against());
        }
        report.unavailable().forEach((names, reason) -> line(text, "NOT MEASURED %s: %s", names, reason));
        report.failed().forEach((names, reason) -> line(text, "FAILED %s: %s", names, reason));
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... arguments) {
        text.append(String.format(Locale.ROOT, format, arguments).stripTrailing())
                .append('\n');
    }
}
