package dev.postrider.benchmarks.contender;

import java.sql.SQLException;
import java.time.Duration;

/**
 * Claims batch after batch, each from the position at which the last one ended. So a scan does not step over the index entries of the
 * rows that it has claimed. It returns to the start after a batch that was not full, and otherwise once a second, for the messages of
 * transactions that committed late, unless such a scan would take more than a hundredth of the time. Not thread-safe.
 */
final class DueScan {

    private static final long FROM_START_EVERY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final long COST = 100;

    /** The statement that claims. */
    @FunctionalInterface
    interface Claim {
        HandStatements.Batch after(HandStatements.Position position) throws SQLException;
    }

    private HandStatements.Position position = HandStatements.Position.START;
    private long nextFromStart = System.nanoTime();

    HandStatements.Batch claim(Claim claim) throws SQLException {
        long began = System.nanoTime();
        boolean fromStart = began - nextFromStart >= 0;
        HandStatements.Batch batch = claim.after(fromStart ? HandStatements.Position.START : position);
        if (fromStart) {
            long ended = System.nanoTime();
            nextFromStart = ended + Math.max(FROM_START_EVERY_NANOS, COST * (ended - began));
        }
        position = batch.rows().size() < HandStatements.BATCH ? HandStatements.Position.START : batch.last();
        return batch;
    }
}
