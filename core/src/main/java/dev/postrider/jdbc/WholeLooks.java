package dev.postrider.jdbc;

import java.time.Duration;

/**
 * How many lanes may be read from their beginning at once. That steps over all that is left of what was delivered, and every other lane of this
 * node waits for it. Thread-safe.
 */
final class WholeLooks {

    private static final long AT_ONCE_NANOS = Duration.ofMillis(50).toNanos();

    private final Seldom seldom = new Seldom(Duration.ZERO, Seldom.A_THOUSANDTH);
    private long perLane = 1;

    synchronized int room(long nanos) {
        return seldom.isDue(nanos) ? (int) Math.max(AT_ONCE_NANOS / perLane, 1) : 0;
    }

    synchronized void took(int lanes, long began, long ended) {
        if (lanes > 0) {
            seldom.done(began, ended);
            perLane = Math.max((ended - began) / lanes, 1);
        } else {
            seldom.spared(began, ended);
        }
    }
}
