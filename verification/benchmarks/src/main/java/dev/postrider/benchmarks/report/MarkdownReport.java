package dev.postrider.benchmarks.report;

import java.util.Map;

/** The figures as Markdown, with a bar for each system. */
public final class MarkdownReport {

    private static final int BAR = 40;

    private MarkdownReport() {}

    public static String of(Report report) {
        StringBuilder page = new StringBuilder("# Benchmark report\n\n");
        page.append(
                "Medians, with the least and the most of the rounds in brackets. Every value is a ratio to something that was"
                        + " measured\nin the same rounds.\n\n| | |\n|---|---|\n");
        report.environment().forEach((name, value) -> page.append("| " + name + " | " + value + " |\n"));
        page.append("\n## Figures\n\n| figure | value | aim | met | against |\n|---|---|---|---|---|\n");
        report.figures().forEach(figure -> page.append(row(figure)));
        report.unavailable()
                .forEach((names, reason) -> page.append("\n- Not measured: `" + names + "`: " + reason + "\n"));
        report.failed().forEach((names, reason) -> page.append("\n- **Failed**: `" + names + "`: " + reason + "\n"));
        page.append("\n## Raw figures\n");
        report.figures().forEach(figure -> page.append(section(figure)));
        return page.toString();
    }

    private static String row(Figure figure) {
        return "| `" + figure.name() + "` | " + Numbers.spread(figure.ratio()) + " | " + figure.aim() + " | "
                + (figure.isMet() ? "yes" : "**no**") + " | " + figure.against() + " |\n";
    }

    private static String section(Figure figure) {
        StringBuilder section = new StringBuilder("\n### `" + figure.name() + "`\n\n");
        section.append(figure.question()).append(". ").append(figure.unit()).append(":\n\n```\n");
        double most = figure.systems().values().stream()
                .mapToDouble(Samples::median)
                .max()
                .orElse(1);
        int width = figure.systems().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(1);
        for (Map.Entry<String, Samples> system : figure.systems().entrySet()) {
            int length = (int) Math.round(BAR * system.getValue().median() / most);
            section.append(system.getKey() + " ".repeat(width - system.getKey().length() + 2));
            section.append("█".repeat(Math.max(length, 0)) + " " + Numbers.spread(system.getValue()) + "\n");
        }
        section.append("```\n");
        figure.notes().forEach(note -> section.append("\n- " + note + "\n"));
        return section.toString();
    }
}
