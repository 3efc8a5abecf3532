package dev.postrider.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * When the first lease of a topic runs out, as far as was asked: the database steps over what is left of all that were taken within the time
 * of a lease. Leases that are taken later run out later, so an old answer is not too late. Thread-safe.
 */
final class FirstExpiry {

    private static final Duration LONGEST = Duration.ofDays(1);

    private final Seldom asking = new Seldom(Duration.ZERO, Seldom.A_THOUSANDTH);
    private final Lookback lookback = new Lookback();
    private @Nullable Long at;

    /** How far back to ask; null while the last answer is good enough. */
    synchronized Lookback.@Nullable Look begin(long nanos) {
        boolean past = at != null && nanos - at >= 0;
        return past || asking.isDue(nanos) ? lookback.begin(nanos) : null;
    }

    /** @param left how long the first one had left, null if there is none */
    synchronized void ended(Lookback.Look look, @Nullable Duration left, long nanos) {
        asking.done(look.began(), nanos);
        lookback.ended(look, true, nanos);
        at = left == null ? null : nanos + (left.compareTo(LONGEST) < 0 ? left : LONGEST).toNanos();
    }

    /** A claim of this node's own was answered. */
    synchronized void leased(Duration lease, long nanos) {
        long ends = nanos + lease.toNanos();
        if (at == null || ends - at < 0) {
            at = ends;
        }
    }

    /** Null if there is none. */
    synchronized @Nullable Duration left(long nanos) {
        return at == null ? null : Duration.of(at - nanos, ChronoUnit.NANOS);
    }
}
