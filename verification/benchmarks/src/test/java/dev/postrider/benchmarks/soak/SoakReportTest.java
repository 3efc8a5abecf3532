package dev.postrider.benchmarks.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SoakReportTest {

    @Test
    void steadyLoadIsGood() {
        assertThat(report(1000, 500, 20).isGood()).isTrue();
    }

    @Test
    void slowerUnderTheSnapshotIsNot() {
        assertThat(report(940, 500, 20).isGood()).isFalse();
    }

    @Test
    void scansThatTakeLongerAndLongerAreNot() {
        assertThat(report(1000, 1100, 20).isGood()).isFalse();
    }

    @Test
    void percentilesAreOfAllScansOfTheMinute() {
        List<Long> looks = new ArrayList<>(Collections.nCopies(98, 1L));
        looks.add(7L);
        looks.add(90L);
        List<Sample> one = List.of(new Sample(Sample.Phase.HELD, 10, 1000, 0, looks, 300, 0, 0));

        assertThat(Sample.look(0.5, one)).isEqualTo(1);
        assertThat(Sample.look(0.99, one)).isEqualTo(7);
        assertThat(Sample.look(0.99, List.of())).isZero();
    }

    @Test
    void messagesThatPileUpAreNot() {
        List<Sample> samples = samples(1000, 500, 20);
        samples.set(15, new Sample(Sample.Phase.HELD, 10, 1000, 5001, List.of(500L), 300, 0, 0));

        assertThat(new SoakReport(Map.of(), 1000, Map.of("postrider", samples), List.of(10.0, 10.0)).isGood())
                .isFalse();
    }

    @Test
    void tablesThatStayLargeAreNot() {
        SoakReport report = report(1000, 500, 25);

        assertThat(report.isGood()).isFalse();
        assertThat(report.markdown()).contains("size in the end against before | 1.25 | ≤ 1.20 | **no**");
    }

    @Test
    void otherQueuesAreShownAndNotJudged() {
        Map<String, List<Sample>> samples = Map.of("status column", samples(100, 90_000, 900));

        SoakReport report = new SoakReport(Map.of(), 1000, samples, List.of(10.0, 10.0, 10.0));

        assertThat(report.isGood()).isTrue();
        assertThat(report.csv()).contains("status column,HELD,").doesNotContain("null");
    }

    @Test
    void heapThatRisesIsNot() {
        List<Double> heap = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            heap.add(10 + 1.5 * i / 60.0); // a sample is ten seconds
        }

        SoakReport report = new SoakReport(Map.of(), 1000, Map.of("postrider", samples(1000, 500, 20)), heap);

        assertThat(report.isGood()).isFalse();
        assertThat(report.markdown()).contains("rise in ten minutes in MB | 1.50 | ≤ 1.00 | **no**");
    }

    @Test
    void argumentsAreChecked() {
        Path out = Path.of("out");
        assertThat(SoakArguments.parse(List.of("--seconds", "1,2,3", "--alone", "--rate", "50"), out))
                .isEqualTo(new SoakArguments(
                        false, true, 50, Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(3), out));
        assertThatThrownBy(() -> SoakArguments.parse(List.of("--seconds", "1,2"), out))
                .hasMessageContaining("three numbers");
        assertThatThrownBy(() -> SoakArguments.parse(List.of("--rate", "5"), out))
                .hasMessageContaining("multiple of 10");
        assertThatThrownBy(() -> SoakArguments.parse(List.of("--rate"), out)).hasMessageContaining("needs a value");
    }

    private static SoakReport report(double heldRate, long heldLook, double sizeInTheEnd) {
        return new SoakReport(
                Map.of(), 1000, Map.of("postrider", samples(heldRate, heldLook, sizeInTheEnd)), List.of(10.0, 10.0));
    }

    private static List<Sample> samples(double heldRate, long heldLook, double sizeInTheEnd) {
        List<Sample> samples = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            samples.add(sample(Sample.Phase.BASELINE, 1000, 500, 20));
        }
        for (int i = 0; i < 10; i++) {
            samples.add(sample(Sample.Phase.HELD, heldRate, heldLook, 300));
        }
        for (int i = 0; i < 10; i++) {
            samples.add(sample(Sample.Phase.RECOVERY, 1000, 500, sizeInTheEnd));
        }
        return samples;
    }

    private static Sample sample(Sample.Phase phase, double rate, long look, double megabytes) {
        return new Sample(phase, 10, rate, 0, Collections.nCopies(10, look), megabytes, 0, 0);
    }
}
