package dev.postrider.jdbc;

import java.time.Duration;

/**
 * Decides when an expensive scan runs in place of a cheap one. The extra cost of the expensive scan is limited to a share of all time:
 * the smaller this cost, the more often the scan is due. It is due at least once a minute. A single slow scan does not lengthen the
 * interval, only two in a row do, because a pause of the process may have caused one. Not thread-safe.
 */
final class CostBoundedInterval {

    /** The share for a scan that is needed only when everything else has failed: one thousandth of all time. */
    static final int A_THOUSANDTH = 1000;

    private static final long LONGEST_NANOS = Duration.ofMinutes(1).toNanos();

    /** The newest cheap scan contributes one part in this many to the average cost of cheap scans. */
    private static final int SMOOTHING = 8;

    private final long shortestNanos;
    private final int share;
    private boolean ever;
    private long last;
    private long took;
    private long usual;
    private long pause;

    /**
     * @param shortest the shortest time between two expensive scans, at most a minute
     * @param share the extra cost may be one part in this many of all time
     */
    CostBoundedInterval(Duration shortest, int share) {
        this.shortestNanos = shortest.toNanos();
        this.share = share;
    }

    /** Whether the expensive scan is due. True at first. A scan that fails is not {@linkplain #done}, and stays due. */
    boolean isDue(long nanos) {
        return !ever || nanos - last >= pause;
    }

    /** Records an expensive scan. */
    void done(long began, long ended) {
        long duration = ended - began;
        long cost = Math.max(Math.min(took, duration) - usual, 0);
        ever = true;
        took = duration;
        last = ended;
        pause = Math.min(Math.max(cost * share, shortestNanos), LONGEST_NANOS);
    }

    /** Records a cheap scan. */
    void spared(long began, long ended) {
        usual += (ended - began - usual) / SMOOTHING;
    }
}
