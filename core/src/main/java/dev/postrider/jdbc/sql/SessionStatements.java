package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** The statements about the session of a connection at the server. */
public interface SessionStatements {

    /**
     * A session at the server.
     *
     * @param transaction its current transaction; empty where a session never runs the transaction of another client
     */
    record ServerSession(long id, String transaction) {

        public static ServerSession read(ResultSet row) throws SQLException {
            return new ServerSession(row.getLong("session_id"), row.getString("session_transaction"));
        }
    }

    /** Returns the id of the session. */
    long id(Connection connection) throws SQLException;

    /**
     * Ends another session, with its transaction and its running statement. A server does not notice the loss of its client while it runs a
     * statement, so the locks would stay.
     */
    void end(Connection connection, ServerSession session) throws SQLException;

    /** Runs statements that wait at most this long for a lock, and restores the session afterwards. */
    <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException;

    /** Returns a lock timeout as PostgreSQL reads it, at least a millisecond. */
    static String lockTimeout(Duration wait) {
        return Math.max(wait.toMillis(), 1) + "ms";
    }

    /** Reads the result of a statement that selects one number. */
    static long number(ResultSet row) throws SQLException {
        row.next();
        return row.getLong(1);
    }

    static SessionStatements of(SqlRunner sql) {
        return switch (sql.kind()) {
            case POSTGRESQL -> new PostgresSession(sql);
            case MYSQL, MARIADB -> new InnoDbSession(sql);
            case H2 -> new H2Session(sql);
        };
    }
}
