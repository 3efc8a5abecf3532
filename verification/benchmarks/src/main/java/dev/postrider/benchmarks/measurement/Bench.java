package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.database.Arena;
import java.io.PrintStream;

/** The input of every measurement: the database, the scale, and the stream for progress. */
public record Bench(Arena arena, Scale scale, PrintStream progress) {

    <T> Rounds<T> rounds(String name) {
        return new Rounds<>(name, scale.rounds(), progress);
    }
}
