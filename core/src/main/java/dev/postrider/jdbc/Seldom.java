package dev.postrider.jdbc;

import java.time.Duration;

/**
 * When to do something thorough beside something cheap that mostly does: the oftener the less it costs more than that. The difference may be a
 * small share of all time, but it is done at least once a minute. One slow time does not count, only two in a row: a pause of the machine
 * may have been the reason. Not thread-safe.
 */
final class Seldom {

    /** What is enough for something that is needed only when all else has failed. */
    static final int A_THOUSANDTH = 1000;

    private static final long LONGEST_NANOS = Duration.ofMinutes(1).toNanos();

    /** Of the cheap ones, the newest counts so much. */
    private static final int SMOOTHING = 8;

    private final long shortestNanos;
    private final int share;
    private boolean ever;
    private long last;
    private long took;
    private long usual;
    private long pause;

    /**
     * @param shortest the least time between two of them, at most a minute
     * @param share of how much time they may take one part
     */
    Seldom(Duration shortest, int share) {
        this.shortestNanos = shortest.toNanos();
        this.share = share;
    }

    /** True at first. One that fails is not {@linkplain #done}, and is due again. */
    boolean isDue(long nanos) {
        return !ever || nanos - last >= pause;
    }

    void done(long began, long ended) {
        long duration = ended - began;
        long cost = Math.max(Math.min(took, duration) - usual, 0);
        ever = true;
        took = duration;
        last = ended;
        pause = Math.min(Math.max(cost * share, shortestNanos), LONGEST_NANOS);
    }

    /** The cheap one was done instead. */
    void spared(long began, long ended) {
        usual += (ended - began - usual) / SMOOTHING;
    }
}
