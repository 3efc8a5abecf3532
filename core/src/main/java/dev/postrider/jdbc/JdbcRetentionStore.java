package dev.postrider.jdbc;

import dev.postrider.store.RetentionStore;
import dev.postrider.store.SweptCommands;
import java.time.Duration;

/** Purges over JDBC. */
final class JdbcRetentionStore implements RetentionStore {

    private final Sessions sessions;
    private final Dialect dialect;
    private final CommandStatements commands;

    JdbcRetentionStore(Sessions sessions, Dialect dialect) {
        this.sessions = sessions;
        this.dialect = dialect;
        this.commands = new CommandStatements(dialect);
    }

    @Override
    public int purgeArchive(Duration age, int limit) {
        return sessions.transaction("purge the archive", connection -> dialect.purgeArchive(connection, age, limit));
    }

    @Override
    public int purgeDead(Duration age, int limit) {
        return sessions.transaction("purge dead letters", connection -> dialect.purgeDead(connection, age, limit));
    }

    @Override
    public int purgeKeys(Duration age, int limit) {
        return sessions.transaction("purge idempotency keys", connection -> dialect.purgeKeys(connection, age, limit));
    }

    /** Each stage in a transaction of its own: what one has done stays done. */
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
