package dev.postrider.benchmarks.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The beginning of the report: where Postrider is better, where it is worse, and by how much. Written once, for Markdown and for HTML.
 */
record Answer(String verdict, List<Table> tables) {

    static Answer of(Report report) {
        int met = report.figures().size() - report.missed().size();
        List<Table> tables = new ArrayList<>();
        List<Figure> libraries = sorted(report.against(Figure.Rival.OTHER_LIBRARY));
        String verdict = verdict(libraries) + met + " of " + report.figures().size() + " aims are met.";
        tables.add(compared(
                "Better than the best other library",
                libraries.stream().filter(figure -> figure.advantage() >= 1).toList()));
        tables.add(compared(
                "Worse than the best other library",
                libraries.stream().filter(figure -> figure.advantage() < 1).toList()));
        tables.add(missed(report.missed()));
        tables.add(shares("Against hand-written JDBC", sorted(report.against(Figure.Rival.HAND_WRITTEN))));
        tables.add(shares("Against itself, under a burden", sorted(report.against(Figure.Rival.ITSELF))));
        return new Answer(verdict, tables);
    }

    private static String verdict(List<Figure> libraries) {
        if (libraries.isEmpty()) {
            return "";
        }
        double best = libraries.get(0).advantage();
        double worst = libraries.get(libraries.size() - 1).advantage();
        long better =
                libraries.stream().filter(figure -> figure.advantage() >= 1).count();
        return "Better than the best other library in " + better + " of " + libraries.size() + " figures"
                + (better == 0 ? "" : ", by up to " + factor(best))
                + (worst >= 1
                        ? ". "
                        : "; worse in " + (libraries.size() - better) + ", by up to " + factor(worst) + ". ");
    }

    private static List<Figure> sorted(List<Figure> figures) {
        return figures.stream()
                .sorted(Comparator.comparingDouble(Figure::advantage).reversed())
                .toList();
    }

    private static Table compared(String title, List<Figure> figures) {
        List<List<String>> rows = figures.stream()
                .map(figure -> List.of(
                        code(figure),
                        factor(figure.advantage()),
                        raw(figure, figure.ours()),
                        raw(figure, figure.against()) + " " + figure.against(),
                        figure.chart().decisive().unit()))
                .toList();
        return new Table(
                title,
                rows.isEmpty() ? "In no figure of this run." : "",
                List.of("figure", "by", "Postrider", "best other", "unit"),
                rows);
    }

    private static Table shares(String title, List<Figure> figures) {
        List<List<String>> rows = figures.stream()
                .map(figure -> List.of(
                        code(figure),
                        Numbers.spread(figure.ratio()),
                        figure.aim().toString(),
                        figure.isMet() ? "yes" : "no",
                        raw(figure, figure.ours()),
                        raw(figure, figure.against()),
                        figure.chart().decisive().unit()))
                .toList();
        return new Table(
                title,
                rows.isEmpty()
                        ? "Not measured in this run."
                        : "1 is as good; more is better where the aim is a minimum.",
                List.of("figure", "value", "aim", "met", "Postrider", "against", "unit"),
                rows);
    }

    private static Table missed(List<Figure> figures) {
        List<List<String>> rows = figures.stream()
                .map(figure -> List.of(
                        code(figure),
                        Numbers.spread(figure.ratio()),
                        figure.aim().toString(),
                        shortBy(figure),
                        figure.isWithinNoise() ? "yes" : "no"))
                .toList();
        return new Table(
                "Missed aims",
                rows.isEmpty() ? "None." : "Within the noise means that some rounds met the aim.",
                List.of("figure", "value", "aim", "short by", "within the noise"),
                rows);
    }

    private static String code(Figure figure) {
        return "`" + figure.name() + "`";
    }

    private static String raw(Figure figure, String system) {
        Samples samples = figure.chart().decisive().systems().get(system);
        return samples == null ? "" : Numbers.text(samples.median());
    }

    private static String factor(double advantage) {
        return String.format(Locale.ROOT, "%.2f ×", advantage >= 1 ? advantage : 1 / advantage);
    }

    private static String shortBy(Figure figure) {
        double share = figure.aim().isMinimum()
                ? 1 - figure.value() / figure.aim().bound()
                : figure.value() / figure.aim().bound() - 1;
        return String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }
}
