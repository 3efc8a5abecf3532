package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * All that a run found out.
 *
 * @param environment where it was measured
 * @param missing what could not be measured, and why
 */
public record Report(Map<String, String> environment, List<Figure> figures, Map<String, String> missing) {

    public Report {
        figures = List.copyOf(figures);
    }
}
