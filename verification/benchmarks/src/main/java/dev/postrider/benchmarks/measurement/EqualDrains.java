package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.database.Arena;

/**
 * Drains of one backlog with and without a burden. Only the burden differs: the backlogs have the same size, and the code of each side
 * is warmed up before the size is decided and the first round begins.
 */
final class EqualDrains {

    private final Arena arena;
    private final Scale scale;
    private final Rounds<Performance> rounds;
    private final int first;
    private double perSecond;

    /** @param first the messages of the first drain, when the rate is not known */
    EqualDrains(Bench bench, Rounds<Performance> rounds, int first) {
        this.arena = bench.arena();
        this.scale = bench.scale();
        this.rounds = rounds;
        this.first = first;
    }

    /** A drain of this many messages that begins with empty tables. */
    @FunctionalInterface
    interface BurdenedDrain {
        Performance of(int messages) throws Exception;
    }

    /** Something that is written to empty tables before a backlog. */
    @FunctionalInterface
    interface Burden {
        void write() throws Exception;
    }

    EqualDrains with(String system, Contender contender, Burden burden) {
        return with(system, contender, messages -> {
            burden.write();
            return Drain.again(arena, contender, messages);
        });
    }

    EqualDrains with(String system, Contender contender, BurdenedDrain drain) {
        rounds.system(system, () -> warmUp(contender, drain), () -> {
            contender.clear();
            return drain.of(messages(scale.roundSeconds()));
        });
        return this;
    }

    EqualDrains without(String system, Contender contender) {
        return with(system, contender, () -> {});
    }

    private void warmUp(Contender contender, BurdenedDrain drain) throws Exception {
        contender.clear();
        perSecond = Math.max(perSecond, drain.of(first).perSecond());
        contender.clear();
        perSecond =
                Math.max(perSecond, drain.of(messages(scale.warmUpSeconds())).perSecond());
    }

    /** The size of the backlogs that take this long; it does not change after the warm-up. */
    int messages(double seconds) {
        return SizedDrain.messages(scale, perSecond, seconds);
    }

    /** The backlog of each round. */
    int messages() {
        return messages(scale.roundSeconds());
    }
}
