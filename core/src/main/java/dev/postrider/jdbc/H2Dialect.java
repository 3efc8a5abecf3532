package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
    String sessionId() {
        return "SESSION_ID()";
    }

    /** Needs admin rights; without them the session ends with its statement. */
    @Override
    void endSession(Connection connection, ServerSession session) throws SQLException {
        query(connection, "CALL ABORT_SESSION(" + session.id() + ")", binder -> {}, ResultSet::next);
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
    int insertInboxMarks(Connection connection, String consumer, List<InboxMark> marks) throws SQLException {
        String merge = sql("""
                MERGE INTO {inbox_mark} m
                USING (SELECT CAST(? AS UUID) AS message_id, CAST(? AS VARCHAR(100)) AS consumer, CAST(? AS VARCHAR(255)) AS tenant,
                              CAST(? AS VARBINARY(32)) AS payload_hash) s
                ON m.message_id = s.message_id AND m.consumer = s.consumer AND m.tenant = s.tenant
                WHEN NOT MATCHED THEN INSERT (message_id, consumer, tenant, payload_hash, seen_at)
                    VALUES (s.message_id, s.consumer, s.tenant, s.payload_hash, {now})
                """);
        int inserted = 0;
        try (PreparedStatement statement = connection.prepareStatement(merge)) {
            for (InboxMark mark : marks) {
                bind(statement).inboxMark(consumer, mark);
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

    /** H2 folds the names of tables to upper or lower case, as it is told to. */
    @Override
    Catalog.Questions catalogQuestions() {
        String named =
                " WHERE CAST(table_schema AS VARCHAR_IGNORECASE) = ? AND CAST(table_name AS VARCHAR_IGNORECASE) = ?";
        return new Catalog.Questions(
                "SELECT 1 FROM information_schema.tables" + named + " AND table_type = 'BASE TABLE'",
                "SELECT column_name, data_type FROM information_schema.columns" + named,
                "SELECT index_name FROM information_schema.indexes" + named);
    }

    @Override
    Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return Optional.ofNullable(configured == null ? connection.getSchema() : configured);
    }

    /** Rights are no part of development and tests. */
    @Override
    List<String> missingGrants(Connection connection, Map<String, String> columns) {
        return List.of();
    }

    @Override
    void migrate(Connection connection, String schema, Migration migration) throws SQLException {
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
