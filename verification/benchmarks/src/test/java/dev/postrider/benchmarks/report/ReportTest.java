package dev.postrider.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a reader finds in the pages. */
final class ReportTest {

    private static final Chart DRAIN = new Chart(
            "Drain a backlog",
            List.of(
                    Series.ofLess(
                            "µs of processor time/message",
                            Map.of("postrider", Samples.of(10, 12), "db-scheduler", Samples.of(100, 100)),
                            Map.of("postrider", Samples.of(4, 4), "db-scheduler", Samples.of(60, 60))),
                    Series.ofMore(
                            "messages/s", Map.of("postrider", Samples.of(9, 8), "db-scheduler", Samples.of(1, 1)))),
            List.of("<note> & more"),
            List.of(new Table("Stages", "Of all rounds.", List.of("stage", "p99"), List.of(List.of("commit", "1.5")))));

    private static final Chart ENQUEUE = new Chart(
            "Enqueue",
            List.of(Series.ofLess(
                    "µs of processor time/transaction",
                    Map.of("postrider", Samples.of(300), "db-scheduler", Samples.of(240)))),
            List.of());

    private final Report report = new Report(
            Map.of("commit", "0123456789ab", Explanation.PROCESSORS_USED, "36 % by this run"),
            List.of(
                    figure("drain_vs_best_peer", Aim.atLeast(8), Samples.of(10, 8.3), Samples.of(9, 8), DRAIN),
                    figure(
                            "drain_without_archive_vs_best_peer",
                            Aim.atLeast(9),
                            Samples.of(10, 7),
                            Samples.of(9, 8),
                            DRAIN),
                    figure("enqueue_vs_best_peer", Aim.atLeast(1.1), Samples.of(0.8), null, ENQUEUE)),
            List.of("mysql_enqueue_vs_handwritten"),
            Map.of("heap_1m", "the time was over"),
            Map.of("idle", "no database"));

    @Test
    void reportBeginsWithWinsAndLosses() {
        String page = MarkdownReport.of(report);

        assertThat(page)
                .startsWith(
                        "# Benchmark report\n\n**Better than the best other library in 2 of 3 figures, by up to 9.15 ×;"
                                + " worse in 1, by up to 1.25 ×. 1 of 3 aims are met.**");
        assertThat(page)
                .containsSubsequence(
                        "## Better than the best other library",
                        "| `drain_vs_best_peer` | 9.15 × | 11.0 | 100 db-scheduler | µs of processor time/message |",
                        "## Worse than the best other library",
                        "| `enqueue_vs_best_peer` | 1.25 × | 300 | 240 db-scheduler | µs of processor time/transaction |",
                        "## Missed aims",
                        "| `drain_without_archive_vs_best_peer` | 8.50 [7.00–10.0] | ≥ 9 | 6 % | yes |",
                        "| `enqueue_vs_best_peer` | 0.80 [0.80–0.80] | ≥ 1.10 | 27 % | no |",
                        "## All figures");
    }

    @Test
    void noiseIsShownBesideTheResult() {
        assertThat(MarkdownReport.of(report))
                .contains("differ by 10 % in processor time and by 6 % in rate")
                .contains("Use of the processors: 36 % by this run.");
    }

    @Test
    void eachChartIsThereOnce() {
        assertThat(occurrences("### Drain a backlog\n", MarkdownReport.of(report)))
                .isOne();
        assertThat(occurrences("<h3>Drain a backlog</h3>", HtmlReport.of(report)))
                .isOne();
        assertThat(occurrences("Drain a backlog", JsonReport.of(report))).isOne();
    }

    @Test
    void whatWasNotMeasuredIsListed() {
        assertThat(MarkdownReport.of(report))
                .contains("**Failed**: `idle`: no database")
                .contains("Not measured: `heap_1m`: the time was over")
                .contains("unless asked for by name: `mysql_enqueue_vs_handwritten`");
        assertThat(TextTable.of(report)).contains("heap_1m", "idle", "mysql_enqueue_vs_handwritten", "1 of 3 aims");
    }

    @Test
    void pageLoadsNothingAndEscapesText() {
        String page = HtmlReport.of(report);

        assertThat(page).contains("&lt;note&gt; &amp; more").doesNotContain("<note>");
        assertThat(page.replace("http://www.w3.org/2000/svg", ""))
                .doesNotContain("http:", "https:", "<script", "<link", "src=");
        assertThat(occurrences("<svg", page)).isEqualTo(3);
    }

    @Test
    void detailsOfChartAreInEveryFormat() {
        assertThat(MarkdownReport.of(report)).contains("#### Stages\n\nOf all rounds.\n\n| stage | p99 |");
        assertThat(HtmlReport.of(report)).contains("<summary>Stages</summary>", "<td>1.5</td>");
        assertThat(JsonReport.of(report)).contains("\"title\": \"Stages\"", "\"1.5\"");
    }

    private static long occurrences(String text, String page) {
        return Pattern.compile(Pattern.quote(text)).matcher(page).results().count();
    }

    private static Figure figure(String name, Aim aim, Samples ratio, @Nullable Samples byRate, Chart chart) {
        return new Figure(name, Figure.Rival.OTHER_LIBRARY, aim, ratio, "postrider", "db-scheduler", byRate, chart);
    }
}
