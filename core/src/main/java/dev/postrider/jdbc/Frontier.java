package dev.postrider.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Where to begin looking for due messages of one topic. Everything before the last one claimed is gone, but the database may
 * still have to step over its remains, the more the longer something keeps it from cleaning up. So a look begins where the last
 * one ended while that one came back full, a few seconds before it otherwise, and now and then further back: what a transaction
 * that was slow to commit left behind is found by these. A wrong frontier only delays. Thread-safe.
 */
final class Frontier {

    private static final Duration NEAR = Duration.ofSeconds(5);
    private static final Duration NEAR_EVERY = Duration.ofMillis(250);
    private static final Duration FAR = Duration.ofMinutes(1);
    private static final Duration FAR_EVERY = Duration.ofSeconds(1);
    private static final Duration ALL_EVERY = Duration.ofSeconds(30);

    private Instant reached = Instant.EPOCH;
    private boolean deep;
    private boolean looked;
    private long lastNear;
    private long lastFar;
    private long lastAll;

    /** @param nanos the monotonic clock */
    synchronized Instant start(long nanos) {
        if (!looked || nanos - lastAll >= ALL_EVERY.toNanos()) {
            looked = true;
            lastAll = nanos;
            return Instant.EPOCH;
        }
        if (nanos - lastFar >= FAR_EVERY.toNanos()) {
            lastFar = nanos;
            return before(FAR);
        }
        if (!deep || nanos - lastNear >= NEAR_EVERY.toNanos()) {
            lastNear = nanos;
            return before(NEAR);
        }
        return reached;
    }

    /** For asking what comes next, without taking the turn of a look that claims. */
    synchronized Instant startOfPeek(long nanos) {
        return !looked || nanos - lastAll >= ALL_EVERY.toNanos() ? Instant.EPOCH : before(FAR);
    }

    /**
     * The rows are in the order they came due. Goes back, too: after a clock that was set back, that is where things are.
     *
     * @param full whether there may be more
     */
    synchronized void claimed(List<ClaimedRow> rows, boolean full) {
        deep = full;
        if (!rows.isEmpty()) {
            reached = rows.get(rows.size() - 1).availableAt();
        }
    }

    private Instant before(Duration span) {
        Instant start = reached.minus(span);
        return start.isBefore(Instant.EPOCH) ? Instant.EPOCH : start;
    }
}
