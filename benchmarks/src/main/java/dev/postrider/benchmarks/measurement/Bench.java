package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.database.Arena;
import java.io.PrintStream;

/** What every measurement needs: the database, how much to do, and where to say how it goes. */
public record Bench(Arena arena, Scale scale, PrintStream progress) {

    <T> Rounds<T> rounds(String name) {
        return new Rounds<>(name, scale.rounds(), progress);
    }
}
