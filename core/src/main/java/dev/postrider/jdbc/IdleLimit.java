package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the server end a transaction of ours in which it hears nothing for a while, and with it the locks: the process may be frozen, or cut
 * off, and nobody else may have what it keeps. Thread-safe.
 */
interface IdleLimit {

    /** Runs a transaction, which the body ends, and leaves the session as it was. */
    <T> T within(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException;

    /** The same for one that begins with {@link Dialect#lockHandled} or {@link Dialect#removeHandled}, which are told the limit too. */
    default <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
        return within(idle, connection, body);
    }

    /** For a database that ends with the process, or ends no transaction by itself. */
    final class None implements IdleLimit {

        @Override
        public <T> T within(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }
    }

    /** PostgreSQL's, which ends with the transaction. Statements that lock what is handled set it themselves, and save a round trip. */
    final class OfTransaction implements IdleLimit {

        @Override
        public <T> T within(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            execute(connection, "SET LOCAL idle_in_transaction_session_timeout = " + Math.max(idle.toMillis(), 1));
            return body.run(connection);
        }

        @Override
        public <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }
    }

    /**
     * A variable of the session, in whole seconds, which goes back to a pool with it: it is set before and restored after, unless the data
     * source hands out sessions that are as strict by themselves.
     */
    final class OfSession implements IdleLimit {

        private static final Logger log = LoggerFactory.getLogger(IdleLimit.class);

        private final String variable;
        private final long usual;

        /** @param usual what it is in a session of the data source; 0 for no limit */
        OfSession(String variable, long usual) {
            this.variable = variable;
            this.usual = usual;
        }

        @Override
        public <T> T within(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            long seconds = Math.max(1, idle.plusMillis(999).toSeconds());
            if (usual > 0 && usual <= seconds) {
                return body.run(connection);
            }
            set(connection, seconds);
            try {
                return body.run(connection);
            } finally {
                restore(connection);
            }
        }

        private void restore(Connection connection) {
            try {
                set(connection, usual);
            } catch (SQLException e) {
                log.debug("A connection could not be restored before it was given back", e);
            }
        }

        private void set(Connection connection, long seconds) throws SQLException {
            execute(connection, "SET SESSION " + variable + " = " + seconds);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
