package dev.postrider.jdbc.sql;

import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs Postrider's own statements and short transactions at READ COMMITTED, each on a connection of the data source. No connection is
 * kept between two calls, so the pool is not exhausted and no transaction stays idle. The server ends the transaction of a frozen
 * process. Thread-safe.
 */
public final class Sessions {

    private static final Logger log = LoggerFactory.getLogger(Sessions.class);

    /**
     * The maximum number of attempts after a conflict, or on a read-only connection. A retry is safe, because a failed attempt has no
     * effect. A lock timeout is not retried, because the caller may have other work.
     */
    private static final int ATTEMPTS = 10;

    private final DataSource dataSource;
    private final DatabaseKind kind;
    private final ConnectionSettings settings;
    private final Duration networkTimeout;
    private final LockWaitPrecaution precaution;
    private final boolean inCallersThread;

    /**
     * @param networkTimeout how long a statement may wait for the server's answer; the server waits half as long for the next
     *     statement of a transaction
     */
    public Sessions(DataSource dataSource, DatabaseKind kind, ConnectionSettings settings, Duration networkTimeout) {
        this.dataSource = dataSource;
        this.kind = kind;
        this.settings = settings;
        this.networkTimeout = networkTimeout;
        this.precaution = new LockWaitPrecaution(kind, System::nanoTime);
        this.inCallersThread = false;
    }

    private Sessions(Sessions other, boolean inCallersThread) {
        this.dataSource = other.dataSource;
        this.kind = other.kind;
        this.settings = other.settings;
        this.networkTimeout = other.networkTimeout;
        this.precaution = other.precaution;
        this.inCallersThread = inCallersThread;
    }

    /**
     * Returns sessions for threads of the application, which may have their own transaction. A connection that a transaction-aware data
     * source took from that transaction is refused, because a statement here would commit it.
     */
    public Sessions inCallersThread() {
        return new Sessions(this, true);
    }

    /** The database of these sessions. */
    public DatabaseKind kind() {
        return kind;
    }

    public DataSource dataSource() {
        return dataSource;
    }

    /** Whether the data source returns connections in autocommit mode. */
    public boolean autoCommit() {
        return settings.autoCommit();
    }

    @FunctionalInterface
    public interface Body<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Runs one statement in autocommit mode. On PostgreSQL it runs in a transaction with a lock timeout for a while after a failure. */
    public <T> T statement(String doing, Body<T> body) {
        return precaution.isTaken() ? transaction(doing, body) : run(doing, true, body);
    }

    /**
     * As {@link #statement}, with the {@linkplain #lockTimeout lock timeout} of transactions. On PostgreSQL the statements set the
     * timeout themselves, which saves a round trip.
     */
    public <T> T limited(String doing, Body<T> body) {
        return precaution.isTaken()
                ? transaction(doing, body)
                : run(doing, true, connection -> settings.idleLimit().alone(lockTimeout(), connection, body));
    }

    /** Runs claims and outcomes: each as a single statement if the database works so, otherwise in one transaction. */
    public <T> T change(String doing, Body<T> body) {
        return kind.worksInSingleStatements() ? statement(doing, body) : transaction(doing, body);
    }

    /** Runs several statements in one transaction. */
    public <T> T transaction(String doing, Body<T> body) {
        return run(
                doing,
                false,
                connection -> settings.idleLimit()
                        .within(
                                networkTimeout.dividedBy(2),
                                lockTimeout(),
                                connection,
                                within -> committed(within, body)));
    }

    /** How long a statement of a transaction may wait for a lock: a sixth of the lease, if the network timeout is half of the lease. */
    public Duration lockTimeout() {
        return networkTimeout.dividedBy(3);
    }

    private int networkTimeoutMillis() {
        return (int) networkTimeout.toMillis();
    }

    private static <T> T committed(Connection connection, Body<T> body) throws SQLException {
        try {
            T result = body.run(connection);
            connection.commit();
            return result;
        } catch (SQLException | RuntimeException | Error e) {
            rollbackOrAbort(connection, e);
            throw e;
        }
    }

    /**
     * Runs a body that ends its transaction itself. The body is never retried, because it may run code of the application.
     *
     * @param timeout how long a statement may wait for the server's answer, and the server for the next statement
     */
    public <T> T lend(Duration timeout, Body<T> body) throws SQLException {
        long millis = Math.max(timeout.toMillis(), networkTimeoutMillis());
        return once(
                false,
                (int) Math.min(millis, Integer.MAX_VALUE),
                connection -> settings.idleLimit().whileHandling(timeout, connection, body));
    }

    private <T> T run(String doing, boolean autoCommit, Body<T> body) {
        for (int attempt = 1; ; attempt++) {
            try {
                return once(autoCommit, networkTimeoutMillis(), connection -> noting(connection, body));
            } catch (SQLException e) {
                boolean conflict = SqlErrors.isConflict(e);
                boolean again = conflict ? !SqlErrors.isLockTimeout(e) : SqlErrors.isReadOnly(e);
                if (attempt == ATTEMPTS || !again) {
                    throw conflict ? new TransactionConflictException(e) : SqlErrors.translate(doing, e);
                }
            }
        }
    }

    /** Notes a failure on a connection. A pool without a free connection is none. */
    private <T> T noting(Connection connection, Body<T> body) throws SQLException {
        try {
            return body.run(connection);
        } catch (SQLException e) {
            precaution.failed(e);
            throw e;
        }
    }

    private <T> T once(boolean autoCommit, int timeoutMillis, Body<T> body) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            refuseForeign(connection, inCallersThread && settings.autoCommit());
            boolean wasAutoCommit = connection.getAutoCommit();
            int wasTimeout = connection.getNetworkTimeout();
            int wasIsolation = settings.setIsolation()
                    ? connection.getTransactionIsolation()
                    : Connection.TRANSACTION_READ_COMMITTED;
            try {
                connection.setNetworkTimeout(Runnable::run, timeoutMillis);
                if (settings.setIsolation()) {
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
     * Refuses a connection that is already in a transaction. A data source in autocommit mode returns a connection without autocommit
     * only if the connection is in use.
     */
    public static void refuseForeign(Connection connection, boolean autoCommit) throws SQLException {
        if (autoCommit && !connection.getAutoCommit()) {
            throw new UnusableConnectionException(UnusableConnectionException.Problem.IN_TRANSACTION);
        }
    }

    /**
     * Aborts a connection that a pool must not keep: its server is no longer the primary, or its rollback failed.
     */
    private static void giveUp(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            log.debug("Could not abort a connection", e);
        }
    }

    /** Restores the settings of a connection. A failure is only logged: the pool finds out that a lost connection is broken. */
    private void restore(Connection connection, boolean autoCommit, int timeout, int isolation) {
        try {
            connection.setAutoCommit(autoCommit);
            if (settings.setIsolation()) {
                connection.setTransactionIsolation(isolation);
            }
            connection.setNetworkTimeout(Runnable::run, timeout);
        } catch (SQLException e) {
            log.debug("Could not restore the settings of a connection before closing it", e);
        }
    }

    /** Rolls back to a savepoint. A deadlock has rolled back the whole transaction, and removed the savepoint. */
    public static void rollbackTo(Connection connection, Savepoint savepoint, Throwable reason) {
        try {
            connection.rollback(savepoint);
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }

    /**
     * Rolls back a transaction of Postrider's own. If that fails, the connection is aborted: its autocommit mode is restored later, which
     * would commit the transaction.
     *
     * @return whether the transaction is rolled back
     */
    public static boolean rollbackOrAbort(Connection connection, Throwable reason) {
        try {
            connection.rollback();
            return true;
        } catch (SQLException e) {
            reason.addSuppressed(e);
            giveUp(connection);
            return false;
        }
    }

    public static void rollback(Connection connection, Throwable reason) {
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
