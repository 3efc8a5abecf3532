package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Sessions of PostgreSQL. */
final class PostgresSession implements SessionStatements {

    /** Ends a session only while it is in that transaction, because sessions and their process ids are reused. */
    static final String END_SESSION =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ? AND backend_xid::text = ?";

    private static final String SET_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', ?, true)";

    private final SqlRunner sql;

    PostgresSession(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public long id(Connection connection) throws SQLException {
        return sql.query(connection, "SELECT pg_backend_pid()", binder -> {}, SessionStatements::number);
    }

    @Override
    public void end(Connection connection, ServerSession session) throws SQLException {
        sql.query(
                connection,
                END_SESSION,
                binder -> binder.number(session.id()).text(session.transaction()),
                ResultSet::next);
    }

    /** Does not restore the timeout after an error: the caller's rollback to an earlier savepoint restores it. */
    @Override
    public <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        String before = sql.query(
                connection,
                "SELECT current_setting('lock_timeout')",
                binder -> {},
                row -> row.next() ? row.getString(1) : "0");
        setLockTimeout(connection, SessionStatements.lockTimeout(wait));
        T result = body.run(connection);
        setLockTimeout(connection, before);
        return result;
    }

    private void setLockTimeout(Connection connection, String timeout) throws SQLException {
        sql.query(connection, SET_LOCK_TIMEOUT, binder -> binder.text(timeout), row -> true);
    }
}
