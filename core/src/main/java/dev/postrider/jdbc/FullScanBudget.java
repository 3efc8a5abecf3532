package dev.postrider.jdbc;

import java.time.Duration;

/**
 * Limits how many lanes one read may scan in full. A full scan of a lane steps over the dead rows of delivered messages, and the other
 * lanes of the node wait for it. Thread-safe.
 */
final class FullScanBudget {

    private static final long AT_ONCE_NANOS = Duration.ofMillis(50).toNanos();

    private final CostBoundedInterval interval =
            new CostBoundedInterval(Duration.ZERO, CostBoundedInterval.A_THOUSANDTH);
    private long perLane = 1;

    /** How many lanes the next read may scan in full. */
    synchronized int room(long nanos) {
        return interval.isDue(nanos) ? (int) Math.max(AT_ONCE_NANOS / perLane, 1) : 0;
    }

    /** Records a read with this many full scans. */
    synchronized void took(int lanes, long began, long ended) {
        if (lanes > 0) {
            interval.done(began, ended);
            perLane = Math.max((ended - began) / lanes, 1);
        } else {
            interval.spared(began, ended);
        }
    }
}
