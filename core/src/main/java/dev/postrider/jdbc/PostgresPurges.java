package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Purges on PostgreSQL: one statement for each operation. */
final class PostgresPurges implements PurgeStatements {

    static final String PURGE_ARCHIVE = """
            DELETE FROM {archive} AS a USING (
                SELECT delivered_at, seq FROM {archive}
                WHERE delivered_at < statement_timestamp() - ? * interval '1 microsecond'
                  AND delivered_at >= statement_timestamp() - ? * interval '1 microsecond'
                ORDER BY delivered_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            ) AS old
            WHERE a.delivered_at = old.delivered_at AND a.seq = old.seq
            """;

    /** The outer condition repeats state and age: a row that was replayed while the statement waited for it stays. */
    static final String PURGE_DEAD = """
            WITH old AS MATERIALIZED (
                SELECT seq FROM {message} WHERE state = 'DEAD' AND updated_at < statement_timestamp() - ? * interval '1 microsecond'
                LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {message} AS m USING old
            WHERE m.seq = old.seq AND m.state = 'DEAD' AND m.updated_at < statement_timestamp() - ? * interval '1 microsecond'
            """;

    static final String PURGE_KEYS = """
            WITH old AS MATERIALIZED (
                SELECT topic_id, key_hash FROM {dedup} AS d
                WHERE seen_at < statement_timestamp() - ? * interval '1 microsecond'
                  AND seen_at >= statement_timestamp() - ? * interval '1 microsecond'
                  AND NOT EXISTS (SELECT FROM {message} WHERE id = d.message_id)
                ORDER BY seen_at LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {dedup} AS d USING old WHERE d.topic_id = old.topic_id AND d.key_hash = old.key_hash
            """;

    private final SqlRunner sql;

    PostgresPurges(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        return sql.update(
                connection,
                PURGE_ARCHIVE,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit));
    }

    @Override
    public int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        return sql.update(
                connection,
                PURGE_DEAD,
                binder -> binder.micros(age).integer(limit).micros(age));
    }

    @Override
    public int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        return sql.update(
                connection,
                PURGE_KEYS,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit));
    }
}
