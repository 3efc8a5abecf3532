package dev.postrider.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time when the first lease of a topic expires, by the last query and the claims of this node. A query is costly, because the
 * database steps over the dead index entries of all leases of the last lease time. Leases of other nodes, and those of commits without
 * an answer, are found by the query alone. So it runs at least twice in a lease: a lease that began after one query is found by the next
 * one before it expires. An old answer is never too late, since later leases expire later. Thread-safe.
 */
final class NextLeaseExpiry {

    private static final Duration LONGEST = Duration.ofDays(1);

    private final CostBoundedInterval asking = new CostBoundedInterval(Duration.ZERO, CostBoundedInterval.A_THOUSANDTH);
    private final ScanWindow window = new ScanWindow();
    private @Nullable Long at;
    private long asked;
    private long longestPause = Long.MAX_VALUE;

    /** Begins a query and returns its window. Returns null while the last answer is recent enough. */
    synchronized ScanWindow.@Nullable Scan begin(long nanos) {
        boolean past = at != null && nanos - at >= 0;
        return past || asking.isDue(nanos) || nanos - asked >= longestPause ? window.begin(nanos) : null;
    }

    /** @param left the time until the first lease expires, null if there is no lease */
    synchronized void ended(ScanWindow.Scan look, @Nullable Duration left, long nanos) {
        asking.done(look.began(), nanos);
        asked = look.began();
        window.ended(look, true, nanos);
        at = left == null ? null : nanos + (left.compareTo(LONGEST) < 0 ? left : LONGEST).toNanos();
    }

    /** Notes the lease for which this node claims. */
    synchronized void claimsFor(Duration lease) {
        longestPause = lease.toNanos() / 2;
    }

    /** Notes a claim of this node. */
    synchronized void leased(Duration lease, long nanos) {
        long ends = nanos + lease.toNanos();
        if (at == null || ends - at < 0) {
            at = ends;
        }
    }

    /** Returns the time until the first lease expires, null if there is no lease. */
    synchronized @Nullable Duration left(long nanos) {
        return at == null ? null : Duration.of(at - nanos, ChronoUnit.NANOS);
    }
}
