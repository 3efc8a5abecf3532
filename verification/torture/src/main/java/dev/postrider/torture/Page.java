package dev.postrider.torture;

/** The report as a self-contained HTML page: headings, tables and lists, with the chart after the first table. */
final class Page {

    private static final String HEAD = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><title>Torture run</title>
            <style>
            body { font: 15px/1.5 system-ui, sans-serif; max-width: 1120px; margin: 2em auto; padding: 0 1em; }
            table { border-collapse: collapse; } td, th { border: 1px solid #ddd; padding: 2px 10px; text-align: left; }
            </style></head><body>
            """;

    private final String markdown;
    private final String chart;

    /** @param markdown only headings, bold lines, lists and tables, as the report has them */
    Page(String markdown, String chart) {
        this.markdown = markdown;
        this.chart = chart;
    }

    String html() {
        StringBuilder html = new StringBuilder(HEAD);
        boolean table = false;
        boolean drawn = false;
        for (String line : markdown.split("\n", -1)) {
            boolean row = line.startsWith("|");
            if (table && !row) {
                html.append("</table>\n");
                html.append(drawn ? "" : chart);
                drawn = true;
            }
            if (row && !table) {
                html.append("<table>\n");
            }
            table = row;
            html.append(line(line));
        }
        return html.append("</body></html>\n").toString();
    }

    private static String line(String line) {
        if (line.startsWith("|")) {
            return line.startsWith("|---") ? "" : row(line);
        }
        if (line.startsWith("#")) {
            int level = line.indexOf(' ');
            return "<h" + level + ">" + escaped(line.substring(level + 1)) + "</h" + level + ">\n";
        }
        if (line.startsWith("**")) {
            return "<p><b>" + escaped(line.replace("**", "")) + "</b></p>\n";
        }
        if (line.startsWith("- ")) {
            return "<li>" + escaped(line.substring(2)) + "</li>\n";
        }
        return line.isBlank() ? "" : "<p>" + escaped(line) + "</p>\n";
    }

    private static String row(String line) {
        StringBuilder row = new StringBuilder("<tr>");
        String[] cells = line.split("\\|", -1);
        for (int i = 1; i < cells.length - 1; i++) {
            row.append("<td>").append(escaped(cells[i].strip())).append("</td>");
        }
        return row.append("</tr>\n").toString();
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
