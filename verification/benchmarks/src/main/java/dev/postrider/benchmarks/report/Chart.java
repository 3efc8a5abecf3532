package dev.postrider.benchmarks.report;

import java.util.List;

/**
 * The raw figures of one question. Several ratios can come from one chart.
 *
 * @param question the question, in a few words
 * @param series what was measured; the first decides
 * @param notes notes for the correct interpretation
 * @param tables details, such as what a latency consists of
 */
public record Chart(String question, List<Series> series, List<String> notes, List<Table> tables) {

    public Chart {
        series = List.copyOf(series);
        notes = List.copyOf(notes);
        tables = List.copyOf(tables);
    }

    public Chart(String question, List<Series> series, List<String> notes) {
        this(question, series, notes, List.of());
    }

    public Series decisive() {
        return series.get(0);
    }
}
