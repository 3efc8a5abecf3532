package dev.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.store.CommandId;
import dev.postrider.store.CommandRecord;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What MySQL and MariaDB share: UTC DATETIME(6), ids as 16 bytes, marks by INSERT IGNORE. */
abstract class InnoDbDialect extends LockingDialect {

    private static final int MIGRATION_WAIT_SECONDS = 60;

    /** The same for all who migrate the same tables, and shorter than the 64 characters that are allowed. */
    private static final String LOCK_NAME = "CONCAT('postrider_migration_', MD5(LOWER(?)))";

    /** Characters of one, two, three and four bytes in UTF-8: every other character set loses one of them. */
    private static final String CHARACTERS = "a\u00e4\u043a\u6f22\ud83d\ude00";

    private static final int UNKNOWN_SESSION = 1094;

    InnoDbDialect(Tables tables) {
        super(tables);
    }

    @Override
    String now() {
        return "UTC_TIMESTAMP(6)";
    }

    @Override
    String later() {
        return "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND";
    }

    @Override
    String ago() {
        return "UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND";
    }

    @Override
    String microsUntil(String time) {
        return "TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), " + time + ")";
    }

    @Override
    String sessionId() {
        return "CONNECTION_ID()";
    }

    /** Of its own user, which needs no privilege. One that has ended meanwhile is an error. */
    @Override
    void endSession(Connection connection, ServerSession session) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("KILL " + session.id());
        } catch (SQLException e) {
            if (e.getErrorCode() != UNKNOWN_SESSION) {
                throw e;
            }
        }
    }

    @Override
    String oldestFirst(String columns) {
        return "ORDER BY " + columns + " LIMIT ?";
    }

    @Override
    String byKey() {
        return " FORCE INDEX (PRIMARY)";
    }

    @Override
    String byLane() {
        return byIndex("message_lane");
    }

    @Override
    String byIndex(String name) {
        return " FORCE INDEX (" + tables().bare(name) + ")";
    }

    @Override
    String shareLock() {
        return " LOCK IN SHARE MODE";
    }

    @Override
    String lockingRead() {
        return " LOCK IN SHARE MODE";
    }

    @Override
    void bindUuid(PreparedStatement statement, int index, UUID value) throws SQLException {
        statement.setBytes(
                index,
                ByteBuffer.allocate(16)
                        .putLong(value.getMostSignificantBits())
                        .putLong(value.getLeastSignificantBits())
                        .array());
    }

    @Override
    UUID readUuid(ResultSet row, int column) throws SQLException {
        ByteBuffer bytes = ByteBuffer.wrap(row.getBytes(column));
        return new UUID(bytes.getLong(), bytes.getLong());
    }

    @Override
    void bindTime(PreparedStatement statement, int index, Instant value) throws SQLException {
        statement.setObject(index, LocalDateTime.ofInstant(value, ZoneOffset.UTC));
    }

    @Override
    @Nullable
    Instant readTime(ResultSet row, int column) throws SQLException {
        LocalDateTime time = row.getObject(column, LocalDateTime.class);
        return time == null ? null : time.toInstant(ZoneOffset.UTC);
    }

    @Override
    int insertMarks(Connection connection, List<NewRow> rows) throws SQLException {
        String insert = withRows(LockingSql.INSERT_MARKS, LockingSql.MARK_ROW, rows.size());
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            Binder binder = bind(statement);
            for (NewRow row : rows) {
                binder.mark(row);
            }
            return statement.executeUpdate();
        }
    }

    /**
     * In somebody's transaction an INSERT that fails keeps a shared lock on the row, and of two who hold one when the first inserter
     * rolls back, both die in a deadlock. This one takes an exclusive lock at once.
     */
    @Override
    Optional<CommandRecord> insertCommand(Connection connection, CommandId id, Bind bind, boolean inTransaction)
            throws SQLException {
        if (!inTransaction) {
            return super.insertCommand(connection, id, bind, false);
        }
        update(connection, CommandSql.INSERT + "ON DUPLICATE KEY UPDATE fence = fence", bind);
        return Optional.empty();
    }

    @Override
    IdleLimit idleLimit(Connection connection) throws SQLException {
        return query(connection, "SELECT @@" + idleVariable() + ", @@innodb_lock_wait_timeout", binder -> {}, row -> {
            row.next();
            return new IdleLimit.OfSession(idleVariable(), row.getLong(1), row.getLong(2));
        });
    }

    /** After how many seconds without a statement the server ends a session that is in a transaction. */
    abstract String idleVariable();

    /** In whole seconds, at least one. */
    @Override
    <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        LockWait before = query(
                connection, "SELECT @@innodb_lock_wait_timeout, @@innodb_rollback_on_timeout", binder -> {}, row -> {
                    row.next();
                    return new LockWait(row.getLong(1), row.getBoolean(2));
                });
        setLockWait(connection, Math.max(wait.toSeconds(), 1));
        try {
            return body.run(connection);
        } catch (SQLException e) {
            // A server that was told so ends the whole transaction, and then it must not look as if it could go on.
            throw before.endsTransaction() && SqlErrors.isLockTimeout(e)
                    ? new SQLException(e.getMessage(), "40001", e)
                    : e;
        } finally {
            setLockWait(connection, before.seconds());
        }
    }

    private record LockWait(long seconds, boolean endsTransaction) {}

    private void setLockWait(Connection connection, long seconds) throws SQLException {
        update(connection, "SET SESSION innodb_lock_wait_timeout = ?", binder -> binder.number(seconds));
    }

    @Override
    int insertInboxMarks(Connection connection, String consumer, List<InboxMark> marks) throws SQLException {
        String insert = withRows(LockingSql.INSERT_INBOX_MARKS, LockingSql.INBOX_MARK_ROW, marks.size());
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            Binder binder = bind(statement);
            for (InboxMark mark : marks) {
                binder.inboxMark(consumer, mark);
            }
            return statement.executeUpdate();
        }
    }

    @Override
    Catalog.Questions catalogQuestions() {
        return new Catalog.Questions(
                "SELECT 1 FROM information_schema.tables WHERE table_schema = ? AND table_name = ? AND table_type = 'BASE TABLE'",
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = ? AND table_name = ?",
                "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = ? AND table_name = ?");
    }

    @Override
    Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return configured != null
                ? Optional.of(configured)
                : query(
                        connection,
                        "SELECT DATABASE()",
                        binder -> {},
                        row -> row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty());
    }

    /**
     * The lock is named after the schema, not after the session's database: sessions of different databases may migrate one schema.
     * The name has a fixed length below the limit of 64 characters, whatever the prefix of the tables.
     */
    @Override
    void migrate(Connection connection, String schema, Migration migration) throws SQLException {
        connection.setAutoCommit(true);
        String lock = schema + "." + tables().bare("schema");
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = 10");
            lockForMigration(connection, lock);
            try {
                migration.run(connection);
            } finally {
                query(
                        connection,
                        "SELECT RELEASE_LOCK(" + LOCK_NAME + ")",
                        binder -> binder.text(lock),
                        ResultSet::next);
                statement.execute("SET SESSION lock_wait_timeout = DEFAULT");
            }
        }
    }

    private void lockForMigration(Connection connection, String lock) throws SQLException {
        Optional<Integer> answer = query(
                connection,
                "SELECT GET_LOCK(" + LOCK_NAME + ", ?)",
                binder -> binder.text(lock).integer(MIGRATION_WAIT_SECONDS),
                row -> row.next() && row.getObject(1) != null ? Optional.of(row.getInt(1)) : Optional.empty());
        if (answer.isEmpty()) {
            throw new StoreException(
                    "The server failed to answer GET_LOCK, by which one process at a time migrates " + lock
                            + ": look into the server's log, then try again",
                    null);
        }
        if (answer.get() != 1) {
            throw new StoreException(
                    "Another process has been migrating the schema for " + MIGRATION_WAIT_SECONDS
                            + " s: wait for it, then try again",
                    null);
        }
    }

    @Override
    void checkCharacters(Connection connection) throws SQLException {
        String sent = HexFormat.of().withUpperCase().formatHex(CHARACTERS.getBytes(UTF_8));
        query(
                connection,
                "SELECT HEX(CONVERT(? USING utf8mb4)), CONVERT(UNHEX('" + sent
                        + "') USING utf8mb4), @@character_set_client, @@character_set_results",
                binder -> binder.text(CHARACTERS),
                row -> {
                    row.next();
                    if (!sent.equals(row.getString(1)) || !CHARACTERS.equals(row.getString(2))) {
                        throw new InvalidConfigurationException(
                                "db.url",
                                "has a connection that loses characters (character_set_client " + row.getString(3)
                                        + ", character_set_results " + row.getString(4)
                                        + "), so that different keys and tenants become the same: use characterEncoding=UTF-8"
                                        + " with MySQL's driver, and SET NAMES utf8mb4 wherever the session is set up");
                    }
                    return true;
                });
    }

    /** What the user may do is only known to the server, which knows roles and patterns too: so it is tried, on no row. */
    @Override
    List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException {
        List<String> missing = new ArrayList<>();
        for (Map.Entry<String, String> table : columns.entrySet()) {
            String name = tables().qualified(table.getKey());
            String column = table.getValue();
            Map<String, String> trials = new LinkedHashMap<>();
            trials.put("SELECT", "SELECT 1 FROM " + name + " LIMIT 0");
            trials.put("INSERT", "INSERT INTO " + name + " SELECT * FROM " + name + " LIMIT 0");
            trials.put("UPDATE", "UPDATE " + name + " SET " + column + " = " + column + " LIMIT 0");
            trials.put("DELETE", "DELETE FROM " + name + " LIMIT 0");
            for (Map.Entry<String, String> trial : trials.entrySet()) {
                if (isDenied(connection, trial.getValue())) {
                    missing.add(trial.getKey() + " on " + name);
                }
            }
        }
        return missing;
    }

    private static boolean isDenied(Connection connection, String trial) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(trial);
        } catch (SQLException e) {
            if (!SqlErrors.isDenied(e) && !SqlErrors.isMissingTable(e)) {
                throw e;
            }
            return SqlErrors.isDenied(e);
        }
        return false;
    }

    @Override
    void checkServer(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery("SELECT @@global.read_only")) {
            answer.next();
            if (answer.getBoolean(1)) {
                throw new InvalidConfigurationException(
                        "db.url", "leads to a read-only server, such as a replica: use the primary's address");
            }
        }
    }
}
