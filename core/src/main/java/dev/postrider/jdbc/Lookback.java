package dev.postrider.jdbc;

import java.time.Duration;

/**
 * How far back to look for rows whose time has come: leases that ran out, history that is old enough. What is gone leaves remains that the
 * database steps over, the more the longer something keeps it from cleaning up. So a look goes back to the last one that was complete, and a
 * little further for what is slow to commit, and all the way as often as that is cheap. One that is cut short is repeated. A wrong one only
 * delays. Thread-safe.
 */
final class Lookback {

    /** Before anything was written. */
    static final Duration EVER = Duration.ofDays(36_500);

    private static final Duration MARGIN = Duration.ofSeconds(5);

    /** @param span how long ago the time of a row may have come */
    record Look(Duration span, boolean whole, long began) {}

    private final Seldom whole = new Seldom(Duration.ZERO, Seldom.A_THOUSANDTH);
    private boolean cutShort;
    private long covered;

    /** @param nanos the monotonic clock */
    synchronized Look begin(long nanos) {
        boolean all = cutShort || whole.isDue(nanos);
        return new Look(all ? EVER : MARGIN.plusNanos(nanos - covered), all, nanos);
    }

    /** @param complete whether there is no more for the moment */
    synchronized void ended(Look look, boolean complete, long nanos) {
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
