package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Sessions of H2. */
final class H2Session implements SessionStatements {

    private final SqlRunner sql;

    H2Session(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public long id(Connection connection) throws SQLException {
        return sql.query(connection, "SELECT SESSION_ID()", binder -> {}, SessionStatements::number);
    }

    /** Needs admin rights. Without them the session ends with its statement. */
    @Override
    public void end(Connection connection, ServerSession session) throws SQLException {
        sql.query(connection, "CALL ABORT_SESSION(" + session.id() + ")", binder -> {}, ResultSet::next);
    }

    @Override
    public <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        int before =
                sql.query(connection, "SELECT LOCK_TIMEOUT()", binder -> {}, row -> row.next() ? row.getInt(1) : 1000);
        setLockTimeout(connection, (int) Math.min(Math.max(wait.toMillis(), 1), Integer.MAX_VALUE));
        try {
            return body.run(connection);
        } finally {
            setLockTimeout(connection, before);
        }
    }

    private void setLockTimeout(Connection connection, int millis) throws SQLException {
        sql.update(connection, "SET LOCK_TIMEOUT ?", binder -> binder.integer(millis));
    }
}
