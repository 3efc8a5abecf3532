package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.Locale;

/** How much the rounds of one system differ: what a reader may believe of the last digits. */
final class Noise {

    private Noise() {}

    /** A sentence, or nothing if no system had two rounds. */
    static String of(Report report) {
        List<Chart> charts = report.charts();
        String time = spread(charts, true);
        String rate = spread(charts, false);
        if (time.isEmpty() || rate.isEmpty()) {
            return "";
        }
        return " The rounds of one system differ by " + time + " in processor time and by " + rate
                + " in rate: the median of all systems, most against least.";
    }

    /** Of the charts that have both. */
    private static String spread(List<Chart> charts, boolean ofTime) {
        List<Double> spreads = charts.stream()
                .filter(chart -> chart.series().size() == 2)
                .map(chart -> chart.series().get(ofTime ? 0 : 1))
                .flatMap(series -> series.systems().values().stream())
                .filter(samples -> samples.values().size() > 1)
                .map(samples -> samples.max() / samples.min() - 1)
                .toList();
        return spreads.isEmpty() ? "" : String.format(Locale.ROOT, "%.0f %%", 100 * new Samples(spreads).median());
    }
}
