package dev.postrider.jdbc;

import java.time.Duration;

/**
 * Decides how far back a scan for due rows starts: for expired leases, or for history past its retention. Removed rows leave dead index
 * entries that the database steps over, and a delayed cleanup leaves more of them. So a scan goes back to the last complete scan, plus a
 * margin for late commits. A full scan runs as often as its cost allows. An incomplete full scan is repeated. A wrong start only delays
 * rows. Thread-safe.
 */
final class ScanWindow {

    /** The span of a full scan: no row is older. */
    static final Duration EVER = Duration.ofDays(36_500);

    private static final Duration MARGIN = Duration.ofSeconds(5);

    /** @param span how long ago a row may have become due */
    record Scan(Duration span, boolean whole, long began) {}

    private final CostBoundedInterval whole = new CostBoundedInterval(Duration.ZERO, CostBoundedInterval.A_THOUSANDTH);
    private boolean cutShort;
    private long covered;

    /** @param nanos the monotonic clock */
    synchronized Scan begin(long nanos) {
        boolean all = cutShort || whole.isDue(nanos);
        return new Scan(all ? EVER : MARGIN.plusNanos(nanos - covered), all, nanos);
    }

    /** @param complete whether the scan has found all due rows */
    synchronized void ended(Scan look, boolean complete, long nanos) {
        if (look.whole()) {
            whole.done(look.began(), nanos);
            cutShort = !complete;
        } else {
            whole.spared(look.began(), nanos);
        }
        if (complete) {
            covered = look.began();
        }
    }
}
