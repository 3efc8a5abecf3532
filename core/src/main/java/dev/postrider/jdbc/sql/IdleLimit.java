package dev.postrider.jdbc.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the server end a transaction of this store that is idle for too long, and release its locks. The process may be frozen or
 * disconnected, and the locks block other nodes. Also limits how long a statement waits for a lock. Thread-safe.
 */
public interface IdleLimit {

    /**
     * Runs a transaction, which the body ends, and restores the session afterwards.
     *
     * @param lockTimeout how long a statement of the transaction may wait for a lock
     */
    <T> T within(Duration idle, Duration lockTimeout, Connection connection, Sessions.Body<T> body) throws SQLException;

    /**
     * Does the same for the transaction of a handler, whose first statement gets the limit as a parameter, too. It does not limit lock
     * waits: the statements of the handler decide that.
     */
    <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException;

    /** Runs statements that commit by themselves. Each waits at most this long for a lock, unless it sets its own limit. */
    <T> T alone(Duration lockTimeout, Connection connection, Sessions.Body<T> body) throws SQLException;

    /** Creates the limit of a database. May read the limits that the sessions of the data source have. */
    static IdleLimit of(DatabaseKind kind, Connection connection) throws SQLException {
        return switch (kind) {
            case POSTGRESQL -> new OfTransaction();
            // MySQL has no idle timeout for transactions only. Outside of transactions the session has its own value.
            case MYSQL -> OfSession.read(connection, "wait_timeout");
            case MARIADB -> OfSession.read(connection, "idle_transaction_timeout");
            case H2 -> new Unlimited();
        };
    }

    /** No limit, for a database that ends with the process, or that cannot end an idle transaction. */
    final class Unlimited implements IdleLimit {

        @Override
        public <T> T within(Duration idle, Duration lockTimeout, Connection connection, Sessions.Body<T> body)
                throws SQLException {
            return body.run(connection);
        }

        @Override
        public <T> T whileHandling(Duration idle, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }

        @Override
        public <T> T alone(Duration lockTimeout, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }
    }

    /** The limit of PostgreSQL, which ends with the transaction. Statements that lock handled rows set it without a round trip. */
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

        @Override
        public <T> T alone(Duration lockTimeout, Connection connection, Sessions.Body<T> body) throws SQLException {
            return body.run(connection);
        }
    }

    /**
     * Limits by session variables, in whole seconds. A session returns to its pool with its variables, so they are set before and restored
     * after each use. Nothing is set where the sessions of the data source have limits that are at least as strict.
     */
    final class OfSession implements IdleLimit {

        private static final Logger log = LoggerFactory.getLogger(IdleLimit.class);

        private static final String LOCK_WAIT = "innodb_lock_wait_timeout";

        private final String idleVariable;
        private final long usualIdle;
        private final long usualLockWait;

        /** @param idleVariable the number of idle seconds after which the server ends a session that is in a transaction */
        static OfSession read(Connection connection, String idleVariable) throws SQLException {
            String select = "SELECT @@" + idleVariable + ", @@" + LOCK_WAIT;
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(select)) {
                row.next();
                return new OfSession(idleVariable, row.getLong(1), row.getLong(2));
            }
        }

        /**
         * @param usualIdle the idle limit of a session of the data source; 0 for no limit
         * @param usualLockWait the limit for lock waits of such a session
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
            limitLockWait(lockTimeout, wanted, usual);
            return with(wanted, usual, connection, body);
        }

        @Override
        public <T> T alone(Duration lockTimeout, Connection connection, Sessions.Body<T> body) throws SQLException {
            Map<String, Long> wanted = new LinkedHashMap<>();
            Map<String, Long> usual = new LinkedHashMap<>();
            limitLockWait(lockTimeout, wanted, usual);
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

        private void limitLockWait(Duration lockTimeout, Map<String, Long> wanted, Map<String, Long> usual) {
            long wait = Math.max(1, lockTimeout.toSeconds());
            if (usualLockWait > wait) {
                wanted.put(LOCK_WAIT, wait);
                usual.put(LOCK_WAIT, usualLockWait);
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
                log.debug("Could not restore a connection before it was returned to its pool", e);
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
