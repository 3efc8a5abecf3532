package dev.postrider.jdbc.sql;

import java.sql.SQLException;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Decides whether a single statement runs in a transaction with a lock timeout. A server of PostgreSQL does not notice that its client
 * closed the connection while a statement waits for the lock of a table: the session stays until the lock ends. Each further attempt
 * would leave one more session. Usually no statement waits, and a lock timeout costs two round trips; so only statements after a failed
 * one get it. Thread-safe.
 */
final class LockWaitPrecaution {

    /** Longer than the longest pause between two attempts of a loop. */
    private static final long LASTS_NANOS = Duration.ofMinutes(2).toNanos();

    private final boolean isNeeded;
    private final LongSupplier nanos;

    private volatile boolean hasFailed;
    private volatile long failedAt;

    /** @param nanos the monotonic clock */
    LockWaitPrecaution(DatabaseKind kind, LongSupplier nanos) {
        this.isNeeded = kind == DatabaseKind.POSTGRESQL;
        this.nanos = nanos;
    }

    /** Notes the failure of a statement: the server did not answer in time, or the statement waited too long for a lock. */
    void failed(SQLException e) {
        if (isNeeded && (SqlErrors.isUnavailable(e) || SqlErrors.isLockTimeout(e))) {
            failedAt = nanos.getAsLong();
            hasFailed = true;
        }
    }

    boolean isTaken() {
        return hasFailed && nanos.getAsLong() - failedAt < LASTS_NANOS;
    }
}
