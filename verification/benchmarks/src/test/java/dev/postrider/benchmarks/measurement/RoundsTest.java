package dev.postrider.benchmarks.measurement;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.benchmarks.report.Samples;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class RoundsTest {

    private final PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), true, StandardCharsets.UTF_8);

    @Test
    void systemsTakeTurnsAndEachRoundBeginsWithAnother() {
        List<String> order = new ArrayList<>();

        new Rounds<Integer>("test", 2, nanos -> true, nowhere)
                .system("a", () -> order.add("a") ? 1 : 0)
                .system("b", () -> order.add("b") ? 1 : 0)
                .run();

        assertThat(order).containsExactly("a", "b", "b", "a");
    }

    @Test
    void lateRunMakesOneRoundAndSaysSo() {
        Rounds<Integer> rounds = new Rounds<Integer>("test", 3, nanos -> false, nowhere)
                .system("a", () -> 1)
                .run();

        assertThat(rounds.samples(number -> number)).containsEntry("a", Samples.of(1));
        assertThat(rounds.notes()).containsExactly("1 of 3 rounds: there was no time for more");
    }

    @Test
    void roundThatWouldTakeTooLongIsNotMade() {
        List<Long> asked = new ArrayList<>();

        Rounds<Integer> rounds = new Rounds<Integer>("test", 3, nanos -> asked.add(nanos) && asked.size() < 2, nowhere)
                .system("a", () -> 1)
                .run();

        assertThat(rounds.samples(number -> number)).containsEntry("a", Samples.of(1, 1));
        assertThat(asked).hasSize(2).allMatch(nanos -> nanos > 0);
    }

    @Test
    void failedSystemIsLeftOutWithItsReason() {
        Rounds<Integer> rounds = new Rounds<Integer>("test", 2, nanos -> true, nowhere)
                .system("a", () -> 1)
                .system("b", () -> {
                    throw new IllegalStateException("lost a message");
                })
                .run();

        assertThat(rounds.samples(number -> number)).containsOnlyKeys("a");
        assertThat(rounds.notes()).containsExactly("b failed: java.lang.IllegalStateException: lost a message");
    }
}
