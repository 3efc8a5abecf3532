package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * The result of a run.
 *
 * @param environment the environment of the measurements
 * @param unavailable figures that were not measured because their database cannot run here, with the reason
 * @param failed figures whose measurement failed, with the error
 */
public record Report(
        Map<String, String> environment,
        List<Figure> figures,
        Map<String, String> unavailable,
        Map<String, String> failed) {

    public Report {
        figures = List.copyOf(figures);
    }
}
