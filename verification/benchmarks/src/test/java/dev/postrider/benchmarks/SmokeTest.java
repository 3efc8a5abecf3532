package dev.postrider.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.measurement.Bench;
import dev.postrider.benchmarks.measurement.Measurement;
import dev.postrider.benchmarks.measurement.Measurements;
import dev.postrider.benchmarks.measurement.Scale;
import dev.postrider.benchmarks.report.Figure;
import dev.postrider.benchmarks.report.HtmlReport;
import dev.postrider.benchmarks.report.JsonReport;
import dev.postrider.benchmarks.report.MarkdownReport;
import dev.postrider.benchmarks.report.Report;
import dev.postrider.benchmarks.report.TextTable;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every measurement on PostgreSQL, so small that its figures mean nothing. */
class SmokeTest {

    @Test
    void everyMeasurementMakesItsFigures() throws IOException {
        List<Measurement> measurements = Measurements.all().stream()
                .filter(each -> each.names().stream().noneMatch(name -> name.startsWith("m"))) // MariaDB and MySQL
                .toList();
        List<Report> partials = new ArrayList<>();
        try (Arena arena = Arena.start(Engine.POSTGRESQL_18)) {
            PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
            Report report =
                    Main.measure(new Bench(arena, Scale.tiny(), nowhere), measurements, List.of(), partials::add);

            assertThat(partials).hasSameSizeAs(measurements);
            assertThat(partials.get(0).figures()).isNotEmpty();
            assertThat(partials.get(0).unavailable())
                    .hasSize(expected(measurements).size()
                            - partials.get(0).figures().size());

            assertThat(report.failed()).isEmpty();
            assertThat(report.unavailable()).isEmpty();
            assertThat(report.figures()).extracting(Figure::name).isEqualTo(expected(measurements));
            assertThat(report.figures()).allSatisfy(figure -> {
                assertThat(figure.chart().notes()).noneMatch(note -> note.contains("failed"));
                assertThat(TextTable.of(report)).contains(figure.name());
                assertThat(JsonReport.of(report)).contains('"' + figure.name() + '"');
                assertThat(MarkdownReport.of(report)).contains("`" + figure.name() + "`");
                assertThat(HtmlReport.of(report)).contains("<code>" + figure.name() + "</code>");
            });
        }
    }

    private static List<String> expected(List<Measurement> measurements) {
        return measurements.stream().flatMap(each -> each.names().stream()).toList();
    }
}
