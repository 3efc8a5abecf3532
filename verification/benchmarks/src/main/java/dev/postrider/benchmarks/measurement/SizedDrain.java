package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.database.Arena;

/** Drains backlogs of one system. Its rate in the last one decides the size of the next: each takes the time that a round should take. */
final class SizedDrain {

    /** The first tenth is not timed, and a system may be faster than it was before. */
    private static final double MARGIN = 1.25;

    private final Arena arena;
    private final Scale scale;
    private final Contender contender;
    private double perSecond;

    SizedDrain(Bench bench, Contender contender) {
        this.arena = bench.arena();
        this.scale = bench.scale();
        this.contender = contender;
    }

    /** Drains until the compiler has seen the code and the size is known, beginning with this many messages. */
    void warmUp(int messages) throws Exception {
        perSecond = Drain.of(arena, contender, messages).perSecond();
        perSecond = Drain.of(arena, contender, messages(scale.warmUpSeconds())).perSecond();
    }

    void warmUp() throws Exception {
        warmUp(scale.firstBacklog());
    }

    /** The backlog of the next round. */
    int messages() {
        return messages(scale.roundSeconds());
    }

    private int messages(double seconds) {
        return messages(scale, perSecond, seconds);
    }

    /** The backlog that takes this long at this rate. */
    static int messages(Scale scale, double perSecond, double seconds) {
        double wanted = Math.min(perSecond * seconds * MARGIN, scale.largestBacklog());
        return Math.max((int) wanted, scale.smallestBacklog());
    }

    /** One round from empty tables. */
    Performance round() throws Exception {
        contender.clear();
        return again();
    }

    /** One round without emptying the tables. */
    Performance again() throws Exception {
        Performance performance = Drain.again(arena, contender, messages());
        perSecond = performance.perSecond();
        return performance;
    }
}
