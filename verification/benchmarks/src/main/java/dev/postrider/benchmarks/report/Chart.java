package dev.postrider.benchmarks.report;

import java.util.List;

/**
 * The raw figures of one question. Several ratios can come from one chart.
 *
 * @param question the question, in a few words
 * @param series what was measured; the first decides
 * @param notes notes for the correct interpretation
 */
public record Chart(String question, List<Series> series, List<String> notes) {

    public Chart {
        series = List.copyOf(series);
        notes = List.copyOf(notes);
    }

    public Series decisive() {
        return series.get(0);
    }
}
