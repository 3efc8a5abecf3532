package dev.postrider.jdbc;

import dev.postrider.store.RetentionStore;
import dev.postrider.store.SweptCommands;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Purges old rows over JDBC. Thread-safe. */
final class JdbcRetentionStore implements RetentionStore {

    private final Sessions sessions;
    private final Dialect dialect;
    private final CommandStatements commands;
    private final LongSupplier nanos;
    private final ScanWindow archive = new ScanWindow();
    private final ScanWindow keys = new ScanWindow();
    private final ScanWindow inboxMarks = new ScanWindow();

    /** @param nanos the monotonic clock */
    JdbcRetentionStore(Sessions sessions, Dialect dialect, LongSupplier nanos) {
        this.sessions = sessions;
        this.dialect = dialect;
        this.nanos = nanos;
        this.commands = new CommandStatements(dialect);
    }

    @Override
    public int purgeArchive(Duration age, int limit) {
        return purge(
                "purge the archive",
                archive,
                limit,
                (connection, span) -> dialect.purgeArchive(connection, age, span, limit));
    }

    @Override
    public int purgeDead(Duration age, int limit) {
        return sessions.transaction("purge dead letters", connection -> dialect.purgeDead(connection, age, limit));
    }

    @Override
    public int purgeKeys(Duration age, int limit) {
        return purge(
                "purge idempotency keys",
                keys,
                limit,
                (connection, span) -> dialect.purgeKeys(connection, age, span, limit));
    }

    @Override
    public int purgeInboxMarks(Duration age, int limit) {
        return purge(
                "purge marks of the inbox",
                inboxMarks,
                limit,
                (connection, span) -> dialect.inbox().purge(connection, age, span, limit));
    }

    @FunctionalInterface
    private interface Purge {
        int back(Connection connection, Duration span) throws SQLException;
    }

    private int purge(String doing, ScanWindow window, int limit, Purge purge) {
        ScanWindow.Scan scan = window.begin(nanos.getAsLong());
        int removed = sessions.transaction(doing, connection -> purge.back(connection, scan.span()));
        window.ended(scan, removed < limit, nanos.getAsLong());
        return removed;
    }

    @Override
    public int maintainInboxPartitions(Optional<Duration> age) {
        return dialect.inbox()
                .partitions()
                .map(partitions -> partitions.tend(sessions, age))
                .orElse(0);
    }

    @Override
    public boolean rebuildIndexes() {
        return dialect.rebuildIndexes(sessions);
    }

    /** Runs each stage in its own transaction: a failure of a later stage does not undo an earlier one. */
    @Override
    public SweptCommands sweepCommands(int limit) {
        return new SweptCommands(
                sweep(CommandSql.LOCK_OLD_RESULTS, CommandSql.DROP_RESULTS, limit),
                sweep(CommandSql.LOCK_OLD_KEYS, CommandSql.DELETE_KEYS, limit),
                sweep(CommandSql.LOCK_LOST, CommandSql.DOUBT_LOST, limit));
    }

    private int sweep(String lock, String change, int limit) {
        return sessions.transaction("sweep commands", connection -> commands.sweep(connection, lock, change, limit));
    }
}
