package dev.postrider.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Where to begin looking for due messages of one topic. Everything before the last one claimed is gone, but the database may
 * still have to step over its remains, the more the longer something keeps it from cleaning up; so the next look begins where
 * the last one ended. Messages that appear further back, from transactions that took long to commit, are found by looks that
 * begin a minute earlier, several times a second, and from the very beginning, twice a minute. A wrong frontier only delays.
 * Thread-safe.
 */
final class Frontier {

    static final Duration NEAR = Duration.ofMinutes(1);
    static final Duration NEAR_EVERY = Duration.ofMillis(250);
    static final Duration FAR_EVERY = Duration.ofSeconds(30);

    private Instant reached = Instant.EPOCH;
    private long lastNear;
    private long lastFar;
    private boolean looked;

    /** @param nanos the monotonic clock */
    synchronized Instant start(long nanos) {
        if (!looked || nanos - lastFar >= FAR_EVERY.toNanos()) {
            looked = true;
            lastFar = nanos;
            lastNear = nanos;
            return Instant.EPOCH;
        }
        if (nanos - lastNear >= NEAR_EVERY.toNanos()) {
            lastNear = nanos;
            return near();
        }
        return reached;
    }

    /** For asking what comes next, without taking the turn of a look that claims. */
    synchronized Instant startOfPeek(long nanos) {
        return !looked || nanos - lastFar >= FAR_EVERY.toNanos() ? Instant.EPOCH : near();
    }

    /** The rows are in the order they came due. Goes back, too: after a clock that was set back, that is where things are. */
    synchronized void claimed(List<ClaimedRow> rows) {
        if (!rows.isEmpty()) {
            reached = rows.get(rows.size() - 1).availableAt();
        }
    }

    private Instant near() {
        Instant near = reached.minus(NEAR);
        return near.isBefore(Instant.EPOCH) ? Instant.EPOCH : near;
    }
}
