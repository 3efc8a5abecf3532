package dev.postrider.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keeps {@code docs/metrics.md}, the dashboard and the alert rules true. */
final class MetricsPageTest {

    private static final Path DOCS = Path.of("../../docs");
    private static final String BEGIN = "<!-- generated: begin -->\n";
    private static final String END = "<!-- generated: end -->\n";

    @Test
    void pageListsTheMetricsOfTheCode() throws IOException {
        Path page = DOCS.resolve("metrics.md");
        String text = Files.readString(page);
        int begin = text.indexOf(BEGIN) + BEGIN.length();
        String expected = text.substring(0, begin) + table() + text.substring(text.indexOf(END));
        if (Boolean.getBoolean("postrider.metrics.write")) {
            Files.writeString(page, expected);
        }

        assertThat(Files.readString(page))
                .as("run this test with -Dpostrider.metrics.write=true")
                .isEqualTo(expected);
    }

    private static String table() {
        StringBuilder table =
                new StringBuilder("\n| metric | in Prometheus | kind | tags | meaning |\n|---|---|---|---|---|\n");
        for (Metric metric : Metric.values()) {
            table.append("| `").append(metric.meterName()).append("` | `");
            table.append(series(metric)).append("` | ").append(kind(metric)).append(" |");
            metric.tags().forEach(tag -> table.append(" `").append(tag).append('`'));
            table.append(" | ").append(metric.description()).append(" |\n");
        }
        return table.append('\n').toString();
    }

    private static String series(Metric metric) {
        return metric.seriesNames().get(0).replace("_bucket", "");
    }

    private static String kind(Metric metric) {
        return switch (metric.type()) {
            case COUNTER -> "counter";
            case TIMER -> "histogram";
            case GAUGE, SECONDS_GAUGE -> "gauge of the node";
            case SAMPLED, SAMPLED_SECONDS -> "gauge of the database";
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"grafana-dashboard.json", "prometheus-alerts.yml"})
    void filesForOperatorsUseOnlyExistingSeries(String file) throws IOException {
        Set<String> series = Stream.of(Metric.values())
                .flatMap(metric -> metric.seriesNames().stream())
                .collect(Collectors.toCollection(TreeSet::new));

        Set<String> used = Pattern.compile("\\bpostrider_[a-z_]+")
                .matcher(Files.readString(DOCS.resolve(file)))
                .results()
                .map(found -> found.group())
                .collect(Collectors.toCollection(TreeSet::new));

        assertThat(used).hasSizeGreaterThan(5).isSubsetOf(series);
    }
}
