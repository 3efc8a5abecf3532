package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** Sessions of MySQL and MariaDB. */
final class InnoDbSession implements SessionStatements {

    private static final int UNKNOWN_SESSION = 1094;

    private final SqlRunner sql;

    InnoDbSession(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public long id(Connection connection) throws SQLException {
        return sql.query(connection, "SELECT CONNECTION_ID()", binder -> {}, SessionStatements::number);
    }

    /** Ends a session of the same user, which needs no privilege. Ignores the error for a session that has ended already. */
    @Override
    public void end(Connection connection, ServerSession session) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("KILL " + session.id());
        } catch (SQLException e) {
            if (e.getErrorCode() != UNKNOWN_SESSION) {
                throw e;
            }
        }
    }

    /** Limits the wait in whole seconds, at least one. */
    @Override
    public <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        LockWait before = sql.query(
                connection, "SELECT @@innodb_lock_wait_timeout, @@innodb_rollback_on_timeout", binder -> {}, row -> {
                    row.next();
                    return new LockWait(row.getLong(1), row.getBoolean(2));
                });
        setLockWait(connection, Math.max(wait.toSeconds(), 1));
        try {
            return body.run(connection);
        } catch (SQLException e) {
            // With innodb_rollback_on_timeout the server has rolled back the whole transaction: report a conflict.
            throw before.endsTransaction() && SqlErrors.isLockTimeout(e)
                    ? new SQLException(e.getMessage(), "40001", e)
                    : e;
        } finally {
            setLockWait(connection, before.seconds());
        }
    }

    private record LockWait(long seconds, boolean endsTransaction) {}

    private void setLockWait(Connection connection, long seconds) throws SQLException {
        sql.update(connection, "SET SESSION innodb_lock_wait_timeout = ?", binder -> binder.number(seconds));
    }
}
