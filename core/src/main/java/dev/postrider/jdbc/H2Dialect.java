package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** H2, for development and tests. It supports every function, but only one claim at a time gets rows. */
final class H2Dialect extends LockingDialect {

    /** Serializes migrations. H2 commits DDL by itself, so no lock in the database lasts. An embedded H2 has one process. */
    private static final Object MIGRATION = new Object();

    private static final Set<String> MODES = Set.of("REGULAR", "LEGACY", "POSTGRESQL", "MYSQL", "MARIADB");

    H2Dialect(Tables tables) {
        super(tables);
    }

    @Override
    Dialect in(String schema) {
        return new H2Dialect(tables().in(schema, "\""));
    }

    @Override
    TransactionEnd.ImplicitCommits implicitCommits() {
        return TransactionEnd.ImplicitCommits.DDL_AND_TEMPORARY_TABLES;
    }

    @Override
    TransactionProof transactionProof() {
        return TransactionProof.ById.onH2();
    }

    /** False: the driver checks a released savepoint only in its own memory, and the database ignores the statement. */
    @Override
    boolean checksSavepoints() {
        return false;
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

    /** Does not use DATEDIFF, which compares the local times of two time zones. */
    @Override
    String microsUntil(String time) {
        return "CAST((EXTRACT(EPOCH FROM " + time
                + ") - EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6))) * 1000000 AS BIGINT)";
    }

    @Override
    String sessionId() {
        return "SESSION_ID()";
    }

    /** Needs admin rights. Without them the session ends with its statement. */
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
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(merge)) {
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
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(merge)) {
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

    /**
     * Compares names without case. H2 folds table names to upper or lower case, as configured. Where it folds none, its own names are in
     * upper case.
     */
    @Override
    Catalog.Questions catalogQuestions() {
        String named = " WHERE " + isNamed("TABLE_SCHEMA") + " AND " + isNamed("TABLE_NAME");
        return new Catalog.Questions(
                "SELECT 1 FROM INFORMATION_SCHEMA.TABLES" + named + " AND TABLE_TYPE = 'BASE TABLE'",
                "SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS" + named,
                "SELECT INDEX_NAME FROM INFORMATION_SCHEMA.INDEXES" + named);
    }

    /** Uses a pattern: LOWER and UPPER depend on the default locale, and not every mode has VARCHAR_IGNORECASE. */
    private static String isNamed(String column) {
        return "REGEXP_LIKE(" + column + ", '^\\Q' || ? || '\\E$', 'i')";
    }

    @Override
    Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return Optional.ofNullable(configured == null ? connection.getSchema() : configured);
    }

    @Override
    String schemaQuery() {
        return "SELECT 1 FROM INFORMATION_SCHEMA.SCHEMATA WHERE " + isNamed("SCHEMA_NAME");
    }

    /** Other modes change the meaning of statements. With IGNORECASE, different tenants and topics would be equal. */
    @Override
    void checkConnection(Connection connection) throws SQLException {
        String mode = query(
                connection,
                "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'MODE'",
                binder -> {},
                row -> row.next() ? row.getString(1) : "REGULAR");
        if (!MODES.contains(mode.toUpperCase(Locale.ROOT))) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "has MODE=" + mode
                            + ", in which Postrider's statements do not work: use MODE=PostgreSQL, MySQL or MariaDB, or none");
        }
        if (query(
                connection,
                "SELECT CAST('a' AS VARCHAR) = CAST('A' AS VARCHAR)",
                binder -> {},
                row -> row.next() && row.getBoolean(1))) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "has IGNORECASE=TRUE, so that different keys and tenants become the same: leave it out, and give columns of"
                            + " your own the type VARCHAR_IGNORECASE");
        }
    }

    /** Returns none, because development and tests do not use privileges. */
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
        // An H2 database that can be opened can be written. A read-only file fails at the first change of the schema.
    }
}
