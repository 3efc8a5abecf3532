package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * All that a run found out.
 *
 * @param environment where it was measured
 * @param unavailable what was not measured because its database cannot run here, and why
 * @param failed what went wrong, and how
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
