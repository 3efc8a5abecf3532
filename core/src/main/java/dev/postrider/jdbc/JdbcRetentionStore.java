package dev.postrider.jdbc;

import dev.postrider.store.RetentionStore;
import java.time.Duration;
import java.util.Optional;

/** Purges over JDBC. */
final class JdbcRetentionStore implements RetentionStore {

    private final Sessions sessions;
    private final Dialect dialect;

    JdbcRetentionStore(Sessions sessions, Dialect dialect) {
        this.sessions = sessions;
        this.dialect = dialect;
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

    @Override
    public int purgeInboxMarks(Duration age, int limit) {
        return sessions.transaction(
                "purge marks of the inbox", connection -> dialect.inbox().purge(connection, age, limit));
    }

    @Override
    public int tendInboxPartitions(Optional<Duration> age) {
        return dialect.inbox()
                .partitions()
                .map(partitions -> partitions.tend(sessions, age))
                .orElse(0);
    }
}
