package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.stream.Collectors;

/** The report as Markdown: the answer, all figures, and each chart once, with a bar for each system. */
public final class MarkdownReport {

    private static final int BAR = 40;
    private static final String CLIENT = "█";
    private static final String SERVER = "▒";

    private MarkdownReport() {}

    public static String of(Report report) {
        Answer answer = Answer.of(report);
        StringBuilder page = new StringBuilder("# Benchmark report\n\n");
        page.append("**" + answer.verdict() + "** ")
                .append(Explanation.of(report))
                .append("\n");
        answer.tables().forEach(table -> page.append(table("## ", table)));
        page.append("\n## All figures\n\n");
        page.append(rows(AllFigures.COLUMNS, AllFigures.rows(report)));
        Omissions.of(report).forEach(line -> page.append("\n- ").append(line).append('\n'));
        page.append("\n## Environment\n\n| | |\n|---|---|\n");
        report.environment().forEach((name, value) -> page.append("| " + name + " | " + value + " |\n"));
        page.append("\n## Charts\n");
        report.charts().forEach(chart -> page.append(chart(report, chart)));
        return page.toString();
    }

    private static String table(String level, Table table) {
        StringBuilder text = new StringBuilder("\n" + level + table.title() + "\n\n");
        if (!table.sentence().isEmpty()) {
            text.append(table.sentence()).append("\n\n");
        }
        return text.append(table.rows().isEmpty() ? "" : rows(table.columns(), table.rows()))
                .toString();
    }

    private static String rows(List<String> columns, List<List<String>> rows) {
        StringBuilder text = new StringBuilder(row(columns));
        text.append("|---".repeat(columns.size())).append("|\n");
        rows.forEach(row -> text.append(row(row)));
        return text.toString();
    }

    private static String row(List<String> cells) {
        return cells.stream().collect(Collectors.joining(" | ", "| ", " |\n"));
    }

    private static String chart(Report report, Chart chart) {
        StringBuilder section = new StringBuilder("\n### " + chart.question() + "\n\n");
        section.append(report.of(chart).stream()
                .map(figure -> "`" + figure.name() + "` " + Numbers.spread(figure.ratio()))
                .collect(Collectors.joining(", ", "", "\n")));
        for (Series series : chart.series()) {
            section.append("\n").append(series.unit());
            section.append(series.clients().isEmpty() ? "" : " (" + CLIENT + " client, " + SERVER + " server)");
            section.append(series.lessIsBetter() ? ", less is better:\n" : ", more is better:\n");
            section.append("\n```\n").append(bars(series)).append("```\n");
        }
        chart.notes().forEach(note -> section.append("\n- " + note));
        section.append(chart.notes().isEmpty() ? "" : "\n");
        chart.tables().forEach(table -> section.append(table("#### ", table)));
        return section.toString();
    }

    private static String bars(Series series) {
        int width = series.systems().keySet().stream()
                .mapToInt(String::length)
                .max()
                .orElse(1);
        StringBuilder bars = new StringBuilder();
        series.systems().forEach((system, samples) -> {
            Samples client = series.clients().getOrDefault(system, samples);
            int length = length(samples.median(), series);
            int ofClient = Math.min(length(client.median(), series), length);
            bars.append(system).append(" ".repeat(width - system.length() + 2));
            bars.append(CLIENT.repeat(ofClient)).append(SERVER.repeat(length - ofClient));
            bars.append(' ').append(Numbers.spread(samples)).append('\n');
        });
        return bars.toString();
    }

    private static int length(double value, Series series) {
        return Math.max((int) Math.round(BAR * value / series.most()), 0);
    }
}
