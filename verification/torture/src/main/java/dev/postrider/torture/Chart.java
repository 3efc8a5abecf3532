package dev.postrider.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A chart of deliveries per second, with the times of the faults below. */
final class Chart {

    private static final int WIDTH = 1100;
    private static final int LEFT = 150;
    private static final int CURVE = 200;
    private static final int ROW = 16;
    private static final int TOP = 20;

    private final Summary summary;
    private final long begin;
    private final long end;

    Chart(Summary summary) {
        this.summary = summary;
        this.begin = Long.parseLong(summary.properties().getOrDefault("started", "0"));
        this.end =
                Math.max(begin + 1_000_000, Long.parseLong(summary.properties().getOrDefault("ended", "0")));
    }

    String svg() {
        List<FaultKind> kinds = new ArrayList<>();
        for (FaultKind kind : FaultKind.values()) {
            if (summary.broken().stream().anyMatch(broken -> broken.kind() == kind)) {
                kinds.add(kind);
            }
        }
        int height = TOP + CURVE + 30 + kinds.size() * ROW + 10;
        StringBuilder svg = new StringBuilder();
        add(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-size=\"11\">%n", WIDTH, height);
        curve(svg);
        axis(svg, height);
        for (int row = 0; row < kinds.size(); row++) {
            faults(svg, kinds.get(row), TOP + CURVE + 30 + row * ROW);
        }
        return svg.append("</svg>\n").toString();
    }

    private void curve(StringBuilder svg) {
        Map<Long, Integer> perSecond = summary.perSecond();
        int most = perSecond.values().stream().mapToInt(Integer::intValue).max().orElse(1);
        StringBuilder points = new StringBuilder();
        for (long second = begin / 1_000_000; second <= end / 1_000_000; second++) {
            double y = TOP + CURVE * (1 - (double) perSecond.getOrDefault(second, 0) / most);
            add(points, "%.1f,%.1f ", x(second * 1_000_000), y);
        }
        add(svg, "<polyline fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"1.2\" points=\"%s\"/>%n", points);
        add(svg, "<text x=\"4\" y=\"%d\">%d deliveries/s</text>%n", TOP + 10, most);
        add(svg, "<text x=\"4\" y=\"%d\">0</text>%n", TOP + CURVE);
    }

    private void axis(StringBuilder svg, int height) {
        long seconds = (end - begin) / 1_000_000;
        long step = Math.max(10, seconds / 10 / 10 * 10);
        for (long second = 0; second <= seconds; second += step) {
            double x = x(begin + second * 1_000_000);
            add(
                    svg,
                    "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>"
                            + "<text x=\"%.1f\" y=\"%d\">%d s</text>%n",
                    x,
                    x,
                    TOP,
                    height,
                    x + 2,
                    TOP + CURVE + 14,
                    second);
        }
    }

    private void faults(StringBuilder svg, FaultKind kind, int y) {
        add(svg, "<text x=\"4\" y=\"%d\">%s</text>%n", y + 11, kind.word());
        for (Nemesis.Broken broken : summary.broken()) {
            if (broken.kind() == kind) {
                double x = x(broken.from());
                add(
                        svg,
                        "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#cf222e\" fill-opacity=\"0.55\">"
                                + "<title>%s</title></rect>%n",
                        x,
                        y + 2,
                        Math.max(1.5, x(broken.to()) - x),
                        ROW - 4,
                        broken.target());
            }
        }
    }

    private double x(long micros) {
        return LEFT + (double) (micros - begin) / (end - begin) * (WIDTH - LEFT - 10);
    }

    private static void add(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values));
    }
}
