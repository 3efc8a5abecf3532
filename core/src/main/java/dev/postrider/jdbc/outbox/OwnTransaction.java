package dev.postrider.jdbc.outbox;

import dev.postrider.error.PostriderException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction for user code, on a connection of its own. Before the commit it checks that the transaction is still the one that
 * was begun: on some databases a deadlock rolls back the whole transaction, and the next statement begins a new one. Errors of the
 * database are translated. Not thread-safe: one thread uses it.
 */
final class OwnTransaction implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(OwnTransaction.class);

    /** What fails with an error of the commit. */
    static final String DOING = "run the transaction";

    private final Connection connection;
    private final boolean autoCommit;
    private final @Nullable Savepoint begun;
    private boolean checked;
    private boolean rolledBack = true;

    private OwnTransaction(Connection connection, boolean autoCommit, @Nullable Savepoint begun) {
        this.connection = connection;
        this.autoCommit = autoCommit;
        this.begun = begun;
    }

    /**
     * @param autoCommit whether the connections of the data source are in autocommit mode
     * @param canBeLost whether the database may roll the transaction back and continue with a new one
     * @param insertAndCommit tried once with the first connection in autocommit mode; null if it is not needed
     * @throws UnusableConnectionException if the connection is already in a transaction of other code
     */
    static OwnTransaction begin(
            DataSource dataSource, boolean autoCommit, boolean canBeLost, @Nullable InsertAndCommit insertAndCommit) {
        try {
            Connection connection = dataSource.getConnection();
            try {
                Sessions.refuseForeign(connection, autoCommit);
                connection.setAutoCommit(false);
                if (insertAndCommit != null && autoCommit) {
                    insertAndCommit.tryOnce(connection);
                }
                return new OwnTransaction(connection, autoCommit, canBeLost ? connection.setSavepoint() : null);
            } catch (Throwable e) {
                giveBack(connection, e);
                throw e;
            }
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction(DOING, e);
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

    /**
     * @throws TransactionConflictException if the database has rolled the transaction back; nothing is committed
     * @throws UnusableConnectionException if user code has ended the transaction, or an error has aborted it
     */
    void commit(JdbcUnitOfWork unit) {
        unit.requireIntact();
        try {
            checked = true;
            if (begun != null) {
                release(begun, unit);
            }
            connection.commit();
        } catch (SQLException e) {
            throw SqlErrors.translateInTransaction(DOING, e);
        }
    }

    /** Called after the commit. Tries the request where it could not be tried at the beginning. */
    void tryAfterCommit(InsertAndCommit insertAndCommit) {
        if (!autoCommit) {
            insertAndCommit.tryOnceAfterCommit(connection);
        }
    }

    /**
     * Commits a transaction that the server has already committed. The driver sends nothing, and the pool sees the commit. An error here
     * is only logged, because it does not change the committed transaction.
     */
    void commitAgain() {
        checked = true;
        try {
            connection.commit();
        } catch (SQLException e) {
            log.debug("The connection refuses the commit of a transaction that is committed", e);
        }
    }

    private void release(Savepoint begun, JdbcUnitOfWork unit) throws SQLException {
        try {
            connection.releaseSavepoint(begun);
        } catch (SQLException e) {
            if (SqlErrors.isMissingSavepoint(e)) {
                throw unit.lost(e);
            }
            throw e;
        }
    }

    /**
     * Rolls back.
     *
     * @throws UnusableConnectionException if user code had ended the transaction before it failed, so that a part of its work may be
     *     committed
     */
    void rollback(Throwable reason, JdbcUnitOfWork unit) {
        PostriderException ended = ended(reason, unit);
        rolledBack = Sessions.rollbackOrAbort(connection, reason);
        if (ended instanceof UnusableConnectionException && ended != reason) {
            ended.addSuppressed(reason);
            throw ended;
        }
    }

    /** A deadlock rolls back the whole transaction, with its savepoint. After a lock timeout the savepoint must still be there. */
    private @Nullable PostriderException ended(Throwable reason, JdbcUnitOfWork unit) {
        PostriderException known = unit.ended();
        if (known != null || begun == null || checked) {
            return known;
        }
        if (unit.wasRolledBack() || SqlErrors.isCausedByRollback(reason)) {
            return null;
        }
        try {
            connection.releaseSavepoint(begun);
            return null;
        } catch (SQLException e) {
            return SqlErrors.isMissingSavepoint(e) ? unit.lost(e) : null;
        }
    }

    /**
     * Closes the connection. An error here is only logged, because it does not change a committed transaction. After a failed rollback it
     * leaves autocommit off, because switching it on would commit.
     */
    @Override
    public void close() {
        try (connection) {
            if (rolledBack && !connection.isClosed()) {
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            log.debug("Could not close a connection after its transaction", e);
        }
    }
}
