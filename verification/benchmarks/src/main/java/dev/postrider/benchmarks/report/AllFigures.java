package dev.postrider.benchmarks.report;

import java.util.List;

/** The table of all figures, for Markdown and for HTML. */
final class AllFigures {

    static final List<String> COLUMNS = List.of("figure", "value", "aim", "met", "by rate", "against", "decided by");

    private AllFigures() {}

    static List<List<String>> rows(Report report) {
        return report.figures().stream().map(AllFigures::row).toList();
    }

    private static List<String> row(Figure figure) {
        Samples byRate = figure.byRate();
        return List.of(
                "`" + figure.name() + "`",
                Numbers.spread(figure.ratio()),
                figure.aim().toString(),
                figure.isMet() ? "yes" : "**no**",
                byRate == null ? "" : Numbers.spread(byRate),
                figure.against(),
                figure.chart().decisive().unit());
    }
}
