package dev.postrider.jdbc;

import java.time.Duration;

/**
 * When to do something thorough beside something cheap that mostly does: the oftener the less time it takes. It may have a hundredth of all
 * time, but is done at least once a minute. One slow time does not count, only two in a row: a pause of the machine may have been the
 * reason. Not thread-safe.
 */
final class Seldom {

    private static final int SHARE = 100;
    private static final long LONGEST_NANOS = Duration.ofMinutes(1).toNanos();

    private final long shortestNanos;
    private boolean ever;
    private long last;
    private long took;
    private long pause;

    /** @param shortest the least time between two of them, at most a minute */
    Seldom(Duration shortest) {
        this.shortestNanos = shortest.toNanos();
    }

    /** True at first. One that fails is not {@linkplain #done}, and is due again. */
    boolean isDue(long nanos) {
        return !ever || nanos - last >= pause;
    }

    void done(long began, long ended) {
        long duration = ended - began;
        long cost = ever ? Math.min(took, duration) : duration;
        ever = true;
        took = duration;
        last = ended;
        pause = Math.min(Math.max(cost * SHARE, shortestNanos), LONGEST_NANOS);
    }
}
