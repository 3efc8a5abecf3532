package dev.postrider.benchmarks.report;

import java.util.Locale;

/** One series as an SVG: a bar for each system, client and server beside each other, and a line from the least to the most round. */
final class SvgChart {

    private static final int WIDTH = 900;
    private static final int LEFT = 260;
    private static final int RIGHT = 190;
    private static final int ROW = 24;
    private static final int BAR = 15;

    private final Series series;
    private final StringBuilder svg = new StringBuilder();

    private SvgChart(Series series) {
        this.series = series;
    }

    static String of(Series series) {
        return new SvgChart(series).draw();
    }

    private String draw() {
        int height = ROW * series.systems().size() + 6;
        add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">%n", WIDTH, height);
        int[] row = {0};
        series.systems().forEach((system, samples) -> row(system, samples, 4 + ROW * row[0]++));
        return svg.append("</svg>\n").toString();
    }

    private void row(String system, Samples samples, int y) {
        Samples client = series.clients().get(system);
        String ours = system.startsWith("postrider") ? " ours" : "";
        add("<text x=\"%d\" y=\"%d\" class=\"name%s\">%s</text>%n", LEFT - 8, y + 12, ours, Html.escaped(system));
        double all = length(samples.median());
        double first = client == null ? all : Math.min(length(client.median()), all);
        bar(LEFT, y, first, "client" + ours);
        bar(LEFT + first, y, all - first, "server" + ours);
        double middle = y + BAR / 2.0;
        add(
                "<line class=\"spread\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>%n",
                LEFT + length(samples.min()), LEFT + length(samples.max()), middle, middle);
        add(
                "<text x=\"%.1f\" y=\"%d\">%s</text>%n",
                LEFT + length(samples.max()) + 6, y + 12, Html.escaped(Numbers.spread(samples)));
    }

    private void bar(double x, int y, double width, String style) {
        add("<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>%n", style, x, y, width, BAR);
    }

    private double length(double value) {
        return Math.max(value, 0) / Math.max(series.most(), Double.MIN_NORMAL) * (WIDTH - LEFT - RIGHT);
    }

    private void add(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}
