package dev.postrider.jdbc;

import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction in which user code runs, on a connection that is taken for it. Before the commit it proves that it is still the
 * transaction that was begun: on some databases a deadlock rolls all of it back, and the next statement begins another one. Errors
 * of the database come out translated. Used by one thread.
 */
final class OwnTransaction implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(OwnTransaction.class);

    private static final String DOING = "run the transaction";

    private final Connection connection;
    private final boolean autoCommit;
    private final @Nullable Savepoint begun;

    private OwnTransaction(Connection connection, boolean autoCommit, @Nullable Savepoint begun) {
        this.connection = connection;
        this.autoCommit = autoCommit;
        this.begun = begun;
    }

    /**
     * @param autoCommit what the data source's connections are in
     * @param canBeLost whether the database may roll the transaction back and go on with another
     * @throws UnusableConnectionException when the connection is in somebody's transaction already
     */
    static OwnTransaction begin(DataSource dataSource, boolean autoCommit, boolean canBeLost) {
        try {
            Connection connection = dataSource.getConnection();
            try {
                refuseForeign(connection, autoCommit);
                connection.setAutoCommit(false);
                return new OwnTransaction(connection, autoCommit, canBeLost ? connection.setSavepoint() : null);
            } catch (Throwable e) {
                giveBack(connection, e);
                throw e;
            }
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction(DOING, e);
        }
    }

    /** A connection of a data source that commits by itself does not come without autocommit, unless it is in use. */
    static void refuseForeign(Connection connection, boolean autoCommit) throws SQLException {
        if (autoCommit && !connection.getAutoCommit()) {
            throw new UnusableConnectionException(UnusableConnectionException.Problem.IN_TRANSACTION);
        }
    }

    private static void giveBack(Connection connection, Throwable reason) {
        try {
            connection.close();
        } catch (SQLException e) {
            reason.addSuppressed(e);
        }
    }

    Connection connection() {
        return connection;
    }

    /** @throws TransactionConflictException when the transaction that was begun is no more; nothing is committed */
    void commit(JdbcUnitOfWork unit) {
        unit.requireWhole();
        try {
            if (begun != null) {
                requireWhole(connection, begun);
            }
            connection.commit();
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction(DOING, e);
        }
    }

    /**
     * Releases a savepoint, which exists as long as its transaction does.
     *
     * @throws TransactionConflictException when it does not
     */
    static void requireWhole(Connection connection, Savepoint begun) throws SQLException {
        try {
            connection.releaseSavepoint(begun);
        } catch (SQLException e) {
            if (SqlErrors.isMissingSavepoint(e)) {
                throw new TransactionConflictException(e);
            }
            throw e;
        }
    }

    void rollback(Throwable reason) {
        Sessions.rollback(connection, reason);
    }

    /** What has been committed stays so, whatever happens here. */
    @Override
    public void close() {
        try (connection) {
            if (!connection.isClosed()) {
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            log.debug("A connection could not be given back after its transaction", e);
        }
    }
}
