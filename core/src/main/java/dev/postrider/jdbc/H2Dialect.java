package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** H2, for development and tests: every function, but one claimer at a time gets the rows. */
final class H2Dialect extends LockingDialect {

    /** H2 commits data definition by itself, so no lock in the database lasts: embedded, one process is all there is. */
    private static final Object MIGRATION = new Object();

    H2Dialect(Tables tables) {
        super(tables);
    }

    @Override
    String folder() {
        return "h2";
    }

    @Override
    String now() {
        return "CURRENT_TIMESTAMP(6)";
    }

    @Override
    String later() {
        return "DATEADD(MICROSECOND, CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))";
    }

    @Override
    String ago() {
        return "DATEADD(MICROSECOND, -CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))";
    }

    /** Not DATEDIFF, which compares the clock faces of two time zones. */
    @Override
    String microsUntil(String time) {
        return "CAST((EXTRACT(EPOCH FROM " + time
                + ") - EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6))) * 1000000 AS BIGINT)";
    }

    @Override
    String oldestFirst(String columns) {
        return "FETCH FIRST ? ROWS ONLY";
    }

    @Override
    String shareLock() {
        return " FOR UPDATE";
    }

    @Override
    String never() {
        return "TIMESTAMP WITH TIME ZONE '9999-12-31 00:00:00+00'";
    }

    @Override
    String lockingRead() {
        return "";
    }

    @Override
    String timeParameter() {
        return "CAST(? AS TIMESTAMP(6) WITH TIME ZONE)";
    }

    @Override
    int insertMarks(Connection connection, List<NewRow> rows) throws SQLException {
        String merge = sql("""
                MERGE INTO {dedup} d
                USING (SELECT CAST(? AS INT) AS topic_id, CAST(? AS VARBINARY(32)) AS key_hash, CAST(? AS UUID) AS message_id,
                              CAST(? AS VARBINARY(32)) AS payload_hash) s
                ON d.topic_id = s.topic_id AND d.key_hash = s.key_hash
                WHEN NOT MATCHED THEN INSERT (topic_id, key_hash, message_id, payload_hash, seen_at)
                    VALUES (s.topic_id, s.key_hash, s.message_id, s.payload_hash, {now})
                """);
        int inserted = 0;
        try (PreparedStatement statement = connection.prepareStatement(merge)) {
            for (NewRow row : rows) {
                bind(statement).mark(row);
                inserted += statement.executeUpdate();
            }
        }
        return inserted;
    }

    @Override
    <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        int before = query(connection, "SELECT LOCK_TIMEOUT()", binder -> {}, row -> row.next() ? row.getInt(1) : 1000);
        setLockTimeout(connection, (int) Math.min(Math.max(wait.toMillis(), 1), Integer.MAX_VALUE));
        try {
            return body.run(connection);
        } finally {
            setLockTimeout(connection, before);
        }
    }

    private void setLockTimeout(Connection connection, int millis) throws SQLException {
        update(connection, "SET LOCK_TIMEOUT ?", binder -> binder.integer(millis));
    }

    @Override
    void migrate(Connection connection, Migration migration) throws SQLException {
        connection.setAutoCommit(true);
        synchronized (MIGRATION) {
            migration.run(connection);
        }
    }

    @Override
    void checkServer(Connection connection) {
        // An H2 database that can be opened can be written; a read-only file is refused when the schema is touched.
    }
}
