package dev.postrider.jdbc;

import dev.postrider.internal.store.RetentionStore;
import dev.postrider.internal.store.SweptCommands;
import dev.postrider.jdbc.command.CommandSweep;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/** Purges old rows over JDBC. Thread-safe. */
final class JdbcRetentionStore implements RetentionStore {

    private final Sessions sessions;
    private final PurgeStatements purges;
    private final InboxStatements inbox;
    private final SqlRunner sql;
    private final CommandSweep commands;
    private final LongSupplier nanos;
    private final ScanWindow archive = new ScanWindow();
    private final ScanWindow keys = new ScanWindow();
    private final ScanWindow inboxMarks = new ScanWindow();

    /** @param nanos the monotonic clock */
    JdbcRetentionStore(
            Sessions sessions, PurgeStatements purges, InboxStatements inbox, SqlRunner sql, LongSupplier nanos) {
        this.sessions = sessions;
        this.purges = purges;
        this.inbox = inbox;
        this.sql = sql;
        this.nanos = nanos;
        this.commands = new CommandSweep(sql);
    }

    @Override
    public int purgeArchive(Duration age, int limit) {
        return purge(
                "purge the archive",
                archive,
                limit,
                (connection, span) -> purges.purgeArchive(connection, age, span, limit));
    }

    @Override
    public int purgeDead(Duration age, int limit) {
        return sessions.transaction("purge dead letters", connection -> purges.purgeDead(connection, age, limit));
    }

    @Override
    public int purgeKeys(Duration age, int limit) {
        return purge(
                "purge idempotency keys",
                keys,
                limit,
                (connection, span) -> purges.purgeKeys(connection, age, span, limit));
    }

    @Override
    public int purgeInboxMarks(Duration age, int limit) {
        return purge(
                "purge marks of the inbox",
                inboxMarks,
                limit,
                (connection, span) -> inbox.purge(connection, age, span, limit));
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
        return inbox.partitions()
                .map(partitions -> partitions.tend(sessions, age))
                .orElse(0);
    }

    @Override
    public boolean rebuildIndexes() {
        return sql.kind() == DatabaseKind.POSTGRESQL && new PostgresIndexes(sql).rebuildOutgrown(sessions);
    }

    /** Runs each stage in its own transaction: a failure of a later stage does not undo an earlier one. */
    @Override
    public SweptCommands sweepCommands(int limit) {
        return new SweptCommands(
                sweep(connection -> commands.dropResults(connection, limit)),
                sweep(connection -> commands.deleteKeys(connection, limit)),
                sweep(connection -> commands.doubtLost(connection, limit)));
    }

    private int sweep(Sessions.Body<Integer> stage) {
        return sessions.transaction("sweep commands", stage);
    }
}
