package dev.postrider.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Computes where a scan for the due messages of one topic starts. The messages before the last claimed one are gone, but a scan still
 * steps over their dead rows until the database cleans up. A long-running transaction can delay the cleanup.
 *
 * <p>After a scan with a full result, the next scan starts where that one ended. Otherwise, and every 250 ms, a scan starts up to five
 * seconds earlier, or less where it is proved that no message can appear there. Scans that start further back, or at the beginning, run
 * as often as their cost allows. They find the messages of transactions that committed late. A wrong start only delays a message.
 * Thread-safe.
 */
final class DueScanStart {

    private static final Duration NEAR = Duration.ofSeconds(5);

    /** A message gets its time shortly before its transaction gets an id, and the clock of the database is not exact. */
    private static final Duration MARGIN = Duration.ofSeconds(1);

    private static final Duration NEAR_EVERY = Duration.ofMillis(250);
    private static final Duration FURTHER_EVERY = Duration.ofSeconds(1);

    /**
     * A scan.
     *
     * @param further the interval of this scan if it starts further back, otherwise null
     * @param goingOn whether the scan starts where the last one ended
     */
    record DueScan(Instant from, @Nullable CostBoundedInterval further, boolean goingOn, long began) {}

    /**
     * The state of all transactions as a claim sees it. A transaction that begins to write later has an id above the id of the claim. When
     * a later claim finds all transactions up to that id finished, every message that was due when the first claim began is visible.
     *
     * @param at when the claim began, by the clock of the database
     * @param transaction the transaction id of the claim
     * @param finishedBefore every transaction below this id is finished and visible to the claim
     */
    record Snapshot(Instant at, long transaction, long finishedBefore) {}

    private record FurtherScan(Duration back, CostBoundedInterval interval) {}

    private final FurtherScan fullScan =
            new FurtherScan(ScanWindow.EVER, new CostBoundedInterval(FURTHER_EVERY, CostBoundedInterval.A_THOUSANDTH));

    /** A message whose transaction was open for some seconds waits for one of these scans. The shorter ones run more often. */
    private final List<FurtherScan> further = List.of(
            fullScan,
            new FurtherScan(
                    Duration.ofMinutes(1), new CostBoundedInterval(FURTHER_EVERY, CostBoundedInterval.A_THOUSANDTH)),
            new FurtherScan(Duration.ofSeconds(15), new CostBoundedInterval(FURTHER_EVERY, 300)));

    private Instant reached = Instant.EPOCH;
    private Instant proved = Instant.EPOCH;
    private @Nullable Snapshot unproved;
    private boolean deep;
    private long lastNear;

    /** @param nanos the monotonic clock */
    synchronized DueScan begin(long nanos) {
        for (FurtherScan step : further) {
            if (step.interval().isDue(nanos)) {
                return new DueScan(before(step.back()), step.interval(), false, nanos);
            }
        }
        if (!deep || nanos - lastNear >= NEAR_EVERY.toNanos()) {
            lastNear = nanos;
            return new DueScan(near(), null, false, nanos);
        }
        return new DueScan(reached, null, true, nanos);
    }

    /** The start of a search for the next due time. It does not count as a scan that claims. */
    synchronized Instant startOfPeek(long nanos) {
        return fullScan.interval().isDue(nanos) ? before(fullScan.back()) : near();
    }

    /**
     * Records the result of a scan. The position can also move back: when the clock was set back, new messages are due earlier.
     *
     * @param full whether more messages may be due
     */
    synchronized void ended(DueScan look, ClaimStatements.DueClaim due, boolean full, long nanos) {
        if (look.further() != null) {
            look.further().done(look.began(), nanos);
        } else {
            further.forEach(step -> step.interval().spared(look.began(), nanos));
        }
        deep = full;
        List<ClaimedRow> rows = due.rows();
        if (!rows.isEmpty()) {
            reached = rows.get(rows.size() - 1).availableAt();
        }
        if (due.snapshot() != null && !look.goingOn()) { // it does not scan the times where a message may appear
            see(due.snapshot());
        }
    }

    private void see(Snapshot snapshot) {
        if (unproved != null && unproved.transaction() < snapshot.finishedBefore()) {
            proved = unproved.at();
            unproved = null;
        }
        if (snapshot.at().isBefore(proved)) { // the clock was set back
            proved = Instant.EPOCH;
            unproved = null;
        }
        if (unproved == null) {
            unproved = snapshot;
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
