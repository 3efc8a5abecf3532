package dev.postrider.jdbc;

import dev.postrider.error.TransactionConflictException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections of our own, one short statement or transaction each, at READ COMMITTED. Thread-safe. Nothing is held between two
 * calls, so no pool is starved and no transaction is left idle; one of a process that is frozen in it is ended by the server.
 */
final class Sessions {

    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /**
     * A statement of ours that conflicts with another, or was refused over a connection that can only read, can simply be run again: it
     * has no effects but its own. One that waited too long for a lock is not: whoever asked for it may have others to serve.
     */
    private static final int ATTEMPTS = 10;

    private final DataSource dataSource;
    private final boolean autoCommit;
    private final boolean setIsolation;
    private final int networkTimeoutMillis;
    private final IdleLimit idleLimit;
    private final Duration idle;
    private final Duration lockTimeout;
    private final boolean inCallersThread;

    /**
     * @param autoCommit whether the data source hands out connections in autocommit mode; one that is not is in somebody's transaction
     * @param setIsolation whether the data source hands out connections of another isolation level, so that it must be set each
     *     time at the price of a round trip
     * @param networkTimeout how long a statement may wait for the server's answer; the server waits half as long for the next one
     */
    Sessions(
            DataSource dataSource,
            boolean autoCommit,
            boolean setIsolation,
            Duration networkTimeout,
            IdleLimit idleLimit) {
        this(dataSource, autoCommit, setIsolation, networkTimeout, idleLimit, false);
    }

    private Sessions(
            DataSource dataSource,
            boolean autoCommit,
            boolean setIsolation,
            Duration networkTimeout,
            IdleLimit idleLimit,
            boolean inCallersThread) {
        this.dataSource = dataSource;
        this.autoCommit = autoCommit;
        this.setIsolation = setIsolation;
        this.networkTimeoutMillis = (int) networkTimeout.toMillis();
        this.idleLimit = idleLimit;
        this.idle = networkTimeout.dividedBy(2);
        this.lockTimeout = networkTimeout.dividedBy(3);
        this.inCallersThread = inCallersThread;
    }

    /**
     * The same for statements in threads of the application, which may have a transaction of their own: a connection that a
     * transaction-aware data source took from it is refused, because our statement would commit it.
     */
    Sessions inCallersThread() {
        return new Sessions(
                dataSource, autoCommit, setIsolation, Duration.ofMillis(networkTimeoutMillis), idleLimit, true);
    }

    /** Whether the data source hands out connections in autocommit mode. */
    boolean autoCommit() {
        return autoCommit;
    }

    @FunctionalInterface
    interface Body<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Runs one statement that commits by itself. */
    <T> T statement(String doing, Body<T> body) {
        return run(doing, true, body);
    }

    /** Runs several statements in one transaction. */
    <T> T transaction(String doing, Body<T> body) {
        return run(
                doing,
                false,
                connection -> idleLimit.within(idle, lockTimeout, connection, within -> committed(within, body)));
    }

    /** How long a statement of a transaction may wait for a lock: a sixth of the lease, when the network timeout is half of it. */
    Duration lockTimeout() {
        return lockTimeout;
    }

    private static <T> T committed(Connection connection, Body<T> body) throws SQLException {
        try {
            T result = body.run(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException | Error e) {
            rollback(connection, e);
            throw e;
        }
    }

    /**
     * Lends a connection for a transaction that the body ends itself. It is run once: what it does may be more than statements of ours.
     *
     * @param timeout how long one of its statements may wait for the server's answer, and the server for the next one
     */
    <T> T lend(Duration timeout, Body<T> body) throws SQLException {
        long millis = Math.max(timeout.toMillis(), networkTimeoutMillis);
        return once(
                false,
                (int) Math.min(millis, Integer.MAX_VALUE),
                connection -> idleLimit.whileHandling(timeout, connection, body));
    }

    private <T> T run(String doing, boolean autoCommit, Body<T> body) {
        for (int attempt = 1; ; attempt++) {
            try {
                return once(autoCommit, networkTimeoutMillis, body);
            } catch (SQLException e) {
                boolean conflict = SqlErrors.isConflict(e);
                boolean again = conflict ? !SqlErrors.isLockTimeout(e) : SqlErrors.isReadOnly(e);
                if (attempt == ATTEMPTS || !again) {
                    throw conflict ? new TransactionConflictException(e) : SqlErrors.translate(doing, e);
                }
            }
        }
    }

    private <T> T once(boolean autoCommit, int timeoutMillis, Body<T> body) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            OwnTransaction.refuseForeign(connection, inCallersThread && this.autoCommit);
            boolean wasAutoCommit = connection.getAutoCommit();
            int wasTimeout = connection.getNetworkTimeout();
            int wasIsolation =
                    setIsolation ? connection.getTransactionIsolation() : Connection.TRANSACTION_READ_COMMITTED;
            try {
                connection.setNetworkTimeout(Runnable::run, timeoutMillis);
                if (setIsolation) {
                    connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
                }
                connection.setAutoCommit(autoCommit);
                return body.run(connection);
            } catch (SQLException e) {
                if (SqlErrors.isReadOnly(e)) {
                    giveUp(connection);
                }
                throw e;
            } finally {
                restore(connection, wasAutoCommit, wasTimeout, wasIsolation);
            }
        }
    }

    /**
     * It leads to a server that was the primary and no longer is, and pools take it for a good one. A new connection goes where the
     * address leads now.
     */
    private static void giveUp(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("A connection to a read-only server could not be given up", e);
        }
    }

    /** A connection that was cut cannot be restored, and need not be: whoever gets it back finds it broken. */
    private void restore(Connection connection, boolean autoCommit, int timeout, int isolation) {
        try {
            connection.setAutoCommit(autoCommit);
            if (setIsolation) {
                connection.setTransactionIsolation(isolation);
            }
            connection.setNetworkTimeout(Runnable::run, timeout);
        } catch (SQLException e) {
            log.debug("A connection could not be restored before it was given back", e);
        }
    }

    static void rollback(Connection connection, Throwable reason) {
        try {
            if (connection instanceof GuardedConnection guarded) {
                guarded.rollBackForConflict();
            } else {
                connection.rollback();
            }
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }
}
