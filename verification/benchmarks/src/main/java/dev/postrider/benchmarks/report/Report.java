package dev.postrider.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * The result of a run.
 *
 * @param environment the environment of the measurements
 * @param leftOut figures that are not part of this scale
 * @param unavailable figures that were not measured for another reason
 * @param failed figures whose measurement failed, with the error
 */
public record Report(
        Map<String, String> environment,
        List<Figure> figures,
        List<String> leftOut,
        Map<String, String> unavailable,
        Map<String, String> failed) {

    public Report {
        figures = List.copyOf(figures);
        leftOut = List.copyOf(leftOut);
    }

    /** Each chart once, in the order of the figures. */
    List<Chart> charts() {
        return figures.stream().map(Figure::chart).distinct().toList();
    }

    /** The figures that come from this chart. */
    List<Figure> of(Chart chart) {
        return figures.stream().filter(figure -> figure.chart().equals(chart)).toList();
    }

    List<Figure> against(Figure.Rival rival) {
        return figures.stream().filter(figure -> figure.rival() == rival).toList();
    }

    List<Figure> missed() {
        return figures.stream().filter(figure -> !figure.isMet()).toList();
    }
}
