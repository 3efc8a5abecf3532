package dev.postrider.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One row of the report: a ratio between two systems measured in the same rounds, and its raw figures.
 *
 * @param question the question, in a few words
 * @param against the system that the ratio refers to
 * @param unit the unit of the raw figures
 * @param systems the raw figures of all measured systems
 * @param notes notes for the correct interpretation
 */
public record Figure(
        String name,
        String question,
        Aim aim,
        Samples ratio,
        String against,
        String unit,
        Map<String, Samples> systems,
        List<String> notes) {

    public Figure {
        systems = new LinkedHashMap<>(systems);
        notes = List.copyOf(notes);
    }

    public double value() {
        return ratio.median();
    }

    public boolean isMet() {
        return aim.isMetBy(value());
    }
}
