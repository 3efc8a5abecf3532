package dev.postrider.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One row of the report: a ratio between two things measured in the same rounds, and the raw figures it comes from.
 *
 * @param question what was measured, in a few words
 * @param against what the ratio is to
 * @param unit of the raw figures
 * @param systems the raw figures of everything that was measured beside it
 * @param notes what a reader must know to read it rightly
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
