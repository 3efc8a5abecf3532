package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the server end a transaction of ours in which it hears nothing for a while, and with it the locks: the process may be frozen, or cut
 * off, and nobody else may have what it keeps. Limits how long a statement of it waits for a lock, too. Thread-safe.
 */
interface IdleLimit {

    /**
     * Runs a transaction, which the body ends, and leaves the session as it was.
     *
     * @param lockTimeout how long one of its statements may wait for a lock
     */
    <T> T within(Duration idle, Duration lockTimeout, Connection connection, Sessions.Body<T> body) throws SQLException;

    /**
     * The same for one that begins with {@link Dialect#lockHandled} or {@link Dialect#removeHandled}, which are told the limit too. What its
     * statements wait for is the handler's business.
     */
    <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException;

    /** For a database that ends with the process, or ends no transaction by itself. */
    final class None implements IdleLimit {

        @Override
        public <T> T within(Duration idle, Duration lockTimeout, Connection connection, Sessions.Body<T> body)
                throws SQLException {
            return body.run(connection);
        }

        @Override
        public <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }
    }

    /** PostgreSQL's, which ends with the transaction. Statements that lock what is handled set it themselves, and save a round trip. */
    final class OfTransaction implements IdleLimit {

        @Override
        public <T> T within(Duration idle, Duration lockTimeout, Connection connection, Sessions.Body<T> body)
                throws SQLException {
            execute(
                    connection,
                    "SET LOCAL idle_in_transaction_session_timeout = " + Math.max(idle.toMillis(), 1)
                            + "; SET LOCAL lock_timeout = " + Math.max(lockTimeout.toMillis(), 1));
            return body.run(connection);
        }

        @Override
        public <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }
    }

    /**
     * Variables of the session, in whole seconds, which go back to a pool with it: they are set before and restored after, unless the data
     * source hands out sessions that are as strict by themselves.
     */
    final class OfSession implements IdleLimit {

        private static final Logger log = LoggerFactory.getLogger(IdleLimit.class);

        private static final String LOCK_WAIT = "innodb_lock_wait_timeout";

        private final String idleVariable;
        private final long usualIdle;
        private final long usualLockWait;

        /**
         * @param usualIdle what it is in a session of the data source; 0 for no limit
         * @param usualLockWait the same for the wait for a lock
         */
        OfSession(String idleVariable, long usualIdle, long usualLockWait) {
            this.idleVariable = idleVariable;
            this.usualIdle = usualIdle;
            this.usualLockWait = usualLockWait;
        }

        @Override
        public <T> T within(Duration idle, Duration lockTimeout, Connection connection, Sessions.Body<T> body)
                throws SQLException {
            Map<String, Long> wanted = new LinkedHashMap<>();
            Map<String, Long> usual = new LinkedHashMap<>();
            limitIdle(idle, wanted, usual);
            long wait = Math.max(1, lockTimeout.toSeconds());
            if (usualLockWait > wait) {
                wanted.put(LOCK_WAIT, wait);
                usual.put(LOCK_WAIT, usualLockWait);
            }
            return with(wanted, usual, connection, body);
        }

        @Override
        public <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            Map<String, Long> wanted = new LinkedHashMap<>();
            Map<String, Long> usual = new LinkedHashMap<>();
            limitIdle(idle, wanted, usual);
            return with(wanted, usual, connection, body);
        }

        private void limitIdle(Duration idle, Map<String, Long> wanted, Map<String, Long> usual) {
            long seconds = Math.max(1, idle.plusMillis(999).toSeconds());
            if (usualIdle == 0 || usualIdle > seconds) {
                wanted.put(idleVariable, seconds);
                usual.put(idleVariable, usualIdle);
            }
        }

        private static <T> T with(
                Map<String, Long> wanted, Map<String, Long> usual, Connection connection, Sessions.Body<T> body)
                throws SQLException {
            if (wanted.isEmpty()) {
                return body.run(connection);
            }
            set(connection, wanted);
            try {
                return body.run(connection);
            } finally {
                restore(connection, usual);
            }
        }

        private static void restore(Connection connection, Map<String, Long> usual) {
            try {
                set(connection, usual);
            } catch (SQLException e) {
                log.debug("A connection could not be restored before it was given back", e);
            }
        }

        private static void set(Connection connection, Map<String, Long> variables) throws SQLException {
            String list = variables.entrySet().stream()
                    .map(variable -> variable.getKey() + " = " + variable.getValue())
                    .collect(Collectors.joining(", "));
            execute(connection, "SET SESSION " + list);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
