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
 * @param runEnd the end of the time of the run, by {@link System#nanoTime}
 * @param slotEnd the time after which a measurement makes no further round
 */
public record Bench(Arena arena, Scale scale, PrintStream progress, long runEnd, long slotEnd) {

    public Bench(Arena arena, Scale scale, PrintStream progress) {
        this(arena, scale, progress, System.nanoTime() + scale.limit().toNanos());
    }

    private Bench(Arena arena, Scale scale, PrintStream progress, long runEnd) {
        this(arena, scale, progress, runEnd, runEnd);
    }

    /** The same run on another database. */
    Bench at(Arena other) {
        return new Bench(other, scale, progress, runEnd, slotEnd);
    }

    /** Whether the time of the run is over. */
    public boolean isOver() {
        return System.nanoTime() - runEnd > 0;
    }

    /** The same run for a measurement that may take this part of the time that is left of the run. */
    public Bench ofRun(double part) {
        long now = System.nanoTime();
        return new Bench(arena, scale, progress, runEnd, now + (long) ((runEnd - now) * Math.min(part, 1)));
    }

    /** The same run for a part of a measurement. */
    Bench ofSlot(double part) {
        long now = System.nanoTime();
        return new Bench(arena, scale, progress, runEnd, now + (long) ((slotEnd - now) * part));
    }

    <T> Rounds<T> rounds(String name) {
        return rounds(name, scale.otherRounds());
    }

    /** For the figures that matter most. */
    <T> Rounds<T> mainRounds(String name) {
        return rounds(name, scale.rounds());
    }

    /** For figures that should be close to 1. */
    <T> Rounds<T> burdenRounds(String name) {
        return rounds(name, scale.burdenRounds());
    }

    private <T> Rounds<T> rounds(String name, int count) {
        return new Rounds<>(name, count, nanos -> System.nanoTime() + nanos - slotEnd <= 0, progress);
    }

    /** The peers that take part at this scale; those that write and do not deliver need no patience. */
    List<Peer> peers() {
        return Arrays.stream(Peer.values())
                .filter(peer -> scale.isBroad() || peer.isFast())
                .toList();
    }
}
