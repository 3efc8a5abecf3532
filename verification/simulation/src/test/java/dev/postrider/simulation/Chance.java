package dev.postrider.simulation;

import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/** Everything that is left to chance in a run, drawn from one seed in one order. Used by the thread that has the baton. */
public final class Chance {

    private final SplittableRandom random;

    public Chance(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** Once in so many times; never for 0. */
    public boolean oneIn(int times) {
        return times > 0 && random.nextInt(times) == 0;
    }

    /** From 0 up to this number, which is left out. */
    public int below(int bound) {
        return random.nextInt(bound);
    }

    /** Both ends included. */
    public long between(long least, long most) {
        return least + random.nextLong(most - least + 1);
    }

    public <T> T pick(List<T> things) {
        return things.get(below(things.size()));
    }

    public double fraction() {
        return random.nextDouble();
    }

    public UUID id() {
        return new UUID((random.nextLong() & ~0xF000L) | 0x4000L, (random.nextLong() & ~(3L << 62)) | (2L << 62));
    }
}
