package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Peer;
import dev.postrider.benchmarks.database.Arena;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;

/**
 * The input of every measurement.
 *
 * @param progress the stream for progress
 * @param startNanos the start of the run, by {@link System#nanoTime}
 */
public record Bench(Arena arena, Scale scale, PrintStream progress, long startNanos) {

    /** The part of the time after which each measurement makes only one round. */
    private static final double LATE = 0.85;

    public Bench(Arena arena, Scale scale, PrintStream progress) {
        this(arena, scale, progress, System.nanoTime());
    }

    /** The same run on another database. */
    Bench at(Arena other) {
        return new Bench(other, scale, progress, startNanos);
    }

    /** Whether the time of the run is over. */
    public boolean isOver() {
        return part() > 1;
    }

    private double part() {
        return (System.nanoTime() - startNanos) / (double) scale.limit().toNanos();
    }

    <T> Rounds<T> rounds(String name) {
        return new Rounds<>(name, scale.otherRounds(), () -> part() > LATE, progress);
    }

    /** For the figures that matter most. */
    <T> Rounds<T> mainRounds(String name) {
        return new Rounds<>(name, scale.rounds(), () -> part() > LATE, progress);
    }

    /** The peers that take part at this scale; those that write and do not deliver need no patience. */
    List<Peer> peers() {
        return Arrays.stream(Peer.values())
                .filter(peer -> scale.isBroad() || peer.isFast())
                .toList();
    }
}
