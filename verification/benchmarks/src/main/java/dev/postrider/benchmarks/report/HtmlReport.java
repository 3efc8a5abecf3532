package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The report as one HTML page with plots, which loads nothing from elsewhere. */
public final class HtmlReport {

    private static final String HEAD = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Postrider benchmark report</title>
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <style>
            :root { --text: #1f2328; --page: #fff; --rule: #d0d7de; --soft: #59636e;
                --ours: #0969da; --ours-server: #80b6f0; --other: #6e7781; --other-server: #bcc3ca; }
            @media (prefers-color-scheme: dark) {
                :root { --text: #e6edf3; --page: #0d1117; --rule: #30363d; --soft: #9198a1;
                    --ours: #4493f8; --ours-server: #1f4e8c; --other: #9198a1; --other-server: #4b535d; } }
            body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
                max-width: 1000px; margin: 2em auto; padding: 0 1em; }
            .scroll { overflow-x: auto; }
            table { border-collapse: collapse; margin: .6em 0; }
            td, th { border-bottom: 1px solid var(--rule); padding: 3px 12px 3px 0; text-align: left; white-space: nowrap; }
            th { white-space: normal; vertical-align: bottom; }
            td.wide { white-space: normal; }
            svg { width: 100%; min-width: 640px; font-size: 13px; } svg text { fill: var(--text); }
            svg .name { text-anchor: end; } svg .name.ours { font-weight: 600; }
            .client { fill: var(--other); } .server { fill: var(--other-server); }
            .client.ours { fill: var(--ours); } .server.ours { fill: var(--ours-server); }
            .spread { stroke: var(--text); stroke-width: 1.5; }
            details table { font-size: 13px; } summary { cursor: pointer; }
            .verdict { font-size: 1.3em; } .note { color: var(--soft); }
            h3 { margin-top: 2em; border-top: 1px solid var(--rule); padding-top: .6em; }
            </style></head><body>
            <h1>Benchmark report</h1>
            """;

    private HtmlReport() {}

    public static String of(Report report) {
        Answer answer = Answer.of(report);
        StringBuilder page = new StringBuilder(HEAD);
        page.append("<p class=\"verdict\"><b>" + Html.escaped(answer.verdict()) + "</b></p>\n");
        page.append("<p>" + Html.escaped(Explanation.of(report)) + "</p>\n");
        for (Table table : answer.tables()) {
            page.append("<h2>" + Html.escaped(table.title()) + "</h2>\n");
            page.append(table.sentence().isEmpty() ? "" : "<p>" + Html.escaped(table.sentence()) + "</p>\n");
            page.append(table.rows().isEmpty() ? "" : table(table.columns(), table.rows()));
        }
        page.append("<h2>Charts</h2>\n<p>Where a bar has two shades, the dark one is the client and the light one the"
                + " database server. The line goes from the least to the most of the rounds.</p>\n");
        report.charts().forEach(chart -> page.append(chart(report, chart)));
        page.append("<h2>All figures</h2>\n").append(table(AllFigures.COLUMNS, AllFigures.rows(report)));
        page.append(list(Omissions.of(report)));
        page.append("<h2>Environment</h2>\n<table>\n");
        for (Map.Entry<String, String> entry : report.environment().entrySet()) {
            page.append("<tr><th>" + Html.escaped(entry.getKey()) + "</th><td class=\"wide\">"
                    + Html.escaped(entry.getValue()) + "</td></tr>\n");
        }
        return page.append("</table>\n</body></html>\n").toString();
    }

    private static String chart(Report report, Chart chart) {
        StringBuilder section = new StringBuilder("<h3>" + Html.escaped(chart.question()) + "</h3>\n");
        section.append(report.of(chart).stream()
                .map(figure -> "<code>" + figure.name() + "</code> " + Html.escaped(Numbers.spread(figure.ratio())))
                .collect(Collectors.joining(" · ", "<p>", "</p>\n")));
        for (Series series : chart.series()) {
            String better = series.lessIsBetter() ? "less is better" : "more is better";
            section.append("<p>" + Html.escaped(series.unit()) + ", " + better + "</p>\n");
            section.append("<div class=\"scroll\">" + SvgChart.of(series) + "</div>\n");
        }
        section.append(list(chart.notes()));
        chart.tables()
                .forEach(table -> section.append("<details><summary>" + Html.escaped(table.title())
                        + "</summary>\n<p class=\"note\">" + Html.escaped(table.sentence()) + "</p>\n"
                        + table(table.columns(), table.rows()) + "</details>\n"));
        return section.toString();
    }

    private static String list(List<String> lines) {
        return lines.isEmpty()
                ? ""
                : lines.stream()
                        .map(line -> "<li>" + Html.marked(line) + "</li>\n")
                        .collect(Collectors.joining("", "<ul class=\"note\">\n", "</ul>\n"));
    }

    private static String table(List<String> columns, List<List<String>> rows) {
        StringBuilder table = new StringBuilder("<div class=\"scroll\"><table>\n<tr>");
        columns.forEach(column -> table.append("<th>" + Html.escaped(column) + "</th>"));
        table.append("</tr>\n");
        rows.forEach(row -> table.append(row.stream()
                .map(cell -> "<td>" + Html.marked(cell) + "</td>")
                .collect(Collectors.joining("", "<tr>", "</tr>\n"))));
        return table.append("</table></div>\n").toString();
    }
}
