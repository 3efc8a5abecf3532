package dev.postrider.jdbc;

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
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What MySQL and MariaDB share: UTC DATETIME(6), ids as 16 bytes, marks by INSERT IGNORE. */
abstract class InnoDbDialect extends LockingDialect {

    private static final int MIGRATION_WAIT_SECONDS = 60;

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
    String oldestFirst(String columns) {
        return "ORDER BY " + columns + " LIMIT ?";
    }

    @Override
    String byKey() {
        return " FORCE INDEX (PRIMARY)";
    }

    /** The other form of DELETE takes no hint. */
    @Override
    String deleteByKey() {
        return "DELETE {$1} FROM {$1}" + byKey();
    }

    @Override
    String byLane() {
        return " FORCE INDEX (" + tables().bare("message_lane") + ")";
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
        long usual =
                query(connection, "SELECT @@" + idleVariable(), binder -> {}, row -> row.next() ? row.getLong(1) : 0);
        return new IdleLimit.OfSession(idleVariable(), usual);
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
    void migrate(Connection connection, Migration migration) throws SQLException {
        connection.setAutoCommit(true);
        String lock = tables().bare("migration");
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = 10");
            try (ResultSet answer = statement.executeQuery(
                    "SELECT GET_LOCK(CONCAT('" + lock + "_', MD5(DATABASE())), " + MIGRATION_WAIT_SECONDS + ")")) {
                if (!answer.next() || answer.getInt(1) != 1) {
                    throw new StoreException(
                            "Another process has been migrating the schema for " + MIGRATION_WAIT_SECONDS
                                    + " s: wait for it, then try again",
                            null);
                }
            }
            try {
                migration.run(connection);
            } finally {
                statement.execute("SELECT RELEASE_LOCK(CONCAT('" + lock + "_', MD5(DATABASE())))");
                statement.execute("SET SESSION lock_wait_timeout = DEFAULT");
            }
        }
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
