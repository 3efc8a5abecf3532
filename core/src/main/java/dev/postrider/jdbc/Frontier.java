package dev.postrider.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where to begin looking for due messages of one topic. Everything before the last one claimed is gone, but the database may
 * still have to step over its remains, the more the longer something keeps it from cleaning up. So a look begins where the last
 * one ended while that one came back full, a few seconds before it otherwise, or less where it is proved that nothing can appear there; and
 * further back, or at the beginning, as often as that is cheap: what a transaction that was slow to commit left behind is found by these. A
 * wrong frontier only delays. Thread-safe.
 */
final class Frontier {

    private static final Duration NEAR = Duration.ofSeconds(5);

    /** A message has its time a moment before its transaction has an id, and the clock of the database is not perfect. */
    private static final Duration MARGIN = Duration.ofSeconds(1);

    private static final Duration NEAR_EVERY = Duration.ofMillis(250);
    private static final Duration FURTHER_EVERY = Duration.ofSeconds(1);

    /**
     * @param further which of the looks that go further back it is, if it is one
     * @param goingOn whether it only goes on where the last one ended
     */
    record Look(Instant from, @Nullable Seldom further, boolean goingOn, long began) {}

    /**
     * What a claim tells of all transactions: one that begins to write later has an id above its own. If a later claim finds everything up to
     * that id finished, every message that was due when the first one began is to be seen.
     *
     * @param at when it began, by the clock of the database
     * @param transaction its own id
     * @param finishedBefore every transaction below is finished, and the claim saw what it did
     */
    record Sight(Instant at, long transaction, long finishedBefore) {}

    private record Step(Duration back, Seldom seldom) {}

    private final Step whole = new Step(Lookback.EVER, new Seldom(FURTHER_EVERY, Seldom.A_THOUSANDTH));

    /** A message whose transaction was open for some seconds waits for such a look: the fewer these were, the oftener it comes. */
    private final List<Step> further = List.of(
            whole,
            new Step(Duration.ofMinutes(1), new Seldom(FURTHER_EVERY, Seldom.A_THOUSANDTH)),
            new Step(Duration.ofSeconds(15), new Seldom(FURTHER_EVERY, 300)));

    private Instant reached = Instant.EPOCH;
    private Instant proved = Instant.EPOCH;
    private @Nullable Sight unproved;
    private boolean deep;
    private long lastNear;

    /** @param nanos the monotonic clock */
    synchronized Look begin(long nanos) {
        for (Step step : further) {
            if (step.seldom().isDue(nanos)) {
                return new Look(before(step.back()), step.seldom(), false, nanos);
            }
        }
        if (!deep || nanos - lastNear >= NEAR_EVERY.toNanos()) {
            lastNear = nanos;
            return new Look(near(), null, false, nanos);
        }
        return new Look(reached, null, true, nanos);
    }

    /** For asking what comes next, without taking the turn of a look that claims. */
    synchronized Instant startOfPeek(long nanos) {
        return whole.seldom().isDue(nanos) ? before(whole.back()) : near();
    }

    /**
     * Goes back, too: after a clock that was set back, that is where things are.
     *
     * @param full whether there may be more
     */
    synchronized void ended(Look look, Dialect.Due due, boolean full, long nanos) {
        if (look.further() != null) {
            look.further().done(look.began(), nanos);
        } else {
            further.forEach(step -> step.seldom().spared(look.began(), nanos));
        }
        deep = full;
        List<ClaimedRow> rows = due.rows();
        if (!rows.isEmpty()) {
            reached = rows.get(rows.size() - 1).availableAt();
        }
        if (due.sight() != null && !look.goingOn()) { // which has not looked where something may have appeared
            see(due.sight());
        }
    }

    private void see(Sight sight) {
        if (unproved != null && unproved.transaction() < sight.finishedBefore()) {
            proved = unproved.at();
            unproved = null;
        }
        if (sight.at().isBefore(proved)) { // by a clock that was set back
            proved = Instant.EPOCH;
            unproved = null;
        }
        if (unproved == null) {
            unproved = sight;
        }
    }

    private Instant near() {
        Instant earliest = before(NEAR);
        Instant sure = proved.minus(MARGIN);
        if (sure.isBefore(earliest)) {
            return earliest;
        }
        return sure.isBefore(reached) ? sure : reached;
    }

    private Instant before(Duration span) {
        Instant start = reached.minus(span);
        return start.isBefore(Instant.EPOCH) ? Instant.EPOCH : start;
    }
}
