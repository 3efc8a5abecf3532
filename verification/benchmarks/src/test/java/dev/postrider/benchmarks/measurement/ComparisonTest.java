package dev.postrider.benchmarks.measurement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.postrider.benchmarks.database.ProcessorTime;
import dev.postrider.benchmarks.report.Aim;
import dev.postrider.benchmarks.report.Figure;
import dev.postrider.benchmarks.report.Missing;
import dev.postrider.benchmarks.report.Samples;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ComparisonTest {

    @Test
    void halfOfTheProcessorTimeIsTwiceAsGood() {
        Figure figure = (Figure) work(new ProcessorTime(4, 6), new ProcessorTime(8, 12), new ProcessorTime(30, 30))
                .ratioToHand("figure", Aim.atLeast(1), "postrider", "hand-written");

        assertThat(figure.value()).isEqualTo(2, within(1e-9));
        assertThat(figure.chart().decisive().unit()).isEqualTo("µs of processor time/message");
        assertThat(figure.chart().decisive().clients()).containsEntry("postrider", Samples.of(4));
    }

    @Test
    void rateStandsBesideProcessorTime() {
        Figure figure = (Figure) work(new ProcessorTime(4, 6), new ProcessorTime(8, 12), new ProcessorTime(30, 30))
                .ratioToHand("figure", Aim.atLeast(1), "postrider", "hand-written");

        assertThat(figure.byRate()).isEqualTo(Samples.of(0.5));
    }

    @Test
    void rateDecidesWhereTheServerCannotBeRead() {
        Figure figure =
                (Figure) work(null, null, null).ratioToHand("figure", Aim.atLeast(1), "postrider", "hand-written");

        assertThat(figure.value()).isEqualTo(0.5);
        assertThat(figure.byRate()).isNull();
        assertThat(figure.chart().notes()).anyMatch(note -> note.startsWith("The rates decide"));
    }

    @Test
    void bestPeerIsTheOneWithTheLeastProcessorTime() {
        Figure figure = (Figure) work(new ProcessorTime(4, 6), new ProcessorTime(8, 12), new ProcessorTime(5, 10))
                .ratioToBestPeer("figure", Aim.atLeast(1), "postrider");

        assertThat(figure.against()).isEqualTo("Namastack");
        assertThat(figure.value()).isEqualTo(1.5, within(1e-9));
    }

    @Test
    void bytesHaveAnAimThatIsMaximum() {
        Figure figure = (Figure) Comparison.ofLess(
                        "Log", "bytes", Map.of("postrider", Samples.of(80), "db-scheduler", Samples.of(100)), List.of())
                .ratioToBestPeer("figure", Aim.atMost(1), "postrider");

        assertThat(figure.value()).isEqualTo(0.8);
        assertThat(figure.isMet()).isTrue();
    }

    @Test
    void figureOfFailedSystemIsMissingAndOthersAreNot() {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        Rounds<Performance> rounds = new Rounds<Performance>("test", 1, nanos -> true, nowhere)
                .system("postrider", () -> new Performance(1000, 1, null))
                .system(
                        "hand-written",
                        () -> {
                            throw new IllegalStateException("no table");
                        },
                        () -> new Performance(2000, 3, null))
                .system("db-scheduler", () -> new Performance(500, 3, null))
                .run();
        Comparison comparison = Comparison.ofWork("Question", "message", Scale.standard(), rounds, List.of());

        assertThat(comparison.ratioToHand("hand", Aim.atLeast(1), "postrider", "hand-written"))
                .isInstanceOfSatisfying(
                        Missing.class, missing -> assertThat(missing.reason()).contains("hand-written", "no table"));
        assertThat(comparison.ratioToBestPeer("peer", Aim.atLeast(1), "postrider"))
                .isInstanceOf(Figure.class);
    }

    @Test
    void shortRoundIsNoted() {
        assertThat(work(null, null, null).chart().notes())
                .contains("The shortest round of postrider took 1.0 s")
                .noneMatch(note -> note.contains("hand-written took"));
    }

    private static Comparison work(
            @Nullable ProcessorTime ours, @Nullable ProcessorTime byHand, @Nullable ProcessorTime peer) {
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);
        Rounds<Performance> rounds = new Rounds<Performance>("test", 1, nanos -> true, nowhere)
                .system("postrider", () -> new Performance(1000, 1, ours))
                .system("hand-written", () -> new Performance(2000, 3, byHand))
                .system("db-scheduler", () -> new Performance(500, 3, byHand))
                .system("Namastack", () -> new Performance(400, 3, peer))
                .run();
        return Comparison.ofWork("Question", "message", Scale.standard(), rounds, List.of());
    }
}
