package dev.postrider.jdbc.outbox;

import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Transactions;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import java.sql.Connection;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Runs the caller's work in transactions, together with the messages that it writes. Thread-safe. */
public final class JdbcTransactions {

    private final DataSource dataSource;
    private final JdbcOutbox outboxes;
    private final TransactionSettings settings;
    private final @Nullable InsertAndCommit insertAndCommit;

    /**
     * @param autoCommit whether the data source returns connections in autocommit mode
     * @param canBeLost whether the database may roll a transaction back and continue with a new one
     * @param commitWithInsert whether the last INSERT and the commit are one request, where that is possible
     * @param stagedLimit the most messages that one unit of work may stage
     */
    public record TransactionSettings(
            boolean autoCommit, boolean canBeLost, boolean commitWithInsert, int stagedLimit) {}

    public JdbcTransactions(DataSource dataSource, JdbcOutbox outboxes, SqlRunner sql, TransactionSettings settings) {
        this.dataSource = dataSource;
        this.outboxes = outboxes;
        this.settings = settings;
        this.insertAndCommit =
                settings.commitWithInsert() && sql.kind() == DatabaseKind.POSTGRESQL ? new InsertAndCommit(sql) : null;
    }

    public JdbcOutbox outboxes() {
        return outboxes;
    }

    /** Runs the work in a new transaction, writes the staged messages and commits. On a failure it rolls back everything. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work) throws X {
        return inTransaction(work, HandOver.none());
    }

    /** As {@link #inTransaction(Work)}. The hand-over reserves slots for local hand-overs, and is called after the commit. */
    public <T, X extends Exception> T inTransaction(Work<T, X> work, HandOver handOver) throws X {
        try (OwnTransaction transaction = begin(insertAndCommit)) {
            JdbcUnitOfWork unit = unitOfWork(transaction.connection(), handOver);
            T result;
            try {
                result = work.run(unit);
                if (unit.flush(insertAndCommit)) {
                    transaction.commitAgain();
                } else {
                    transaction.commit(unit);
                }
            } catch (Throwable e) {
                unit.abandoned();
                transaction.rollback(e, unit);
                throw e;
            }
            unit.committed();
            if (insertAndCommit != null) {
                transaction.tryAfterCommit(insertAndCommit);
            }
            return result;
        }
    }

    private OwnTransaction begin(@Nullable InsertAndCommit tried) {
        return OwnTransaction.begin(dataSource, settings.autoCommit(), settings.canBeLost(), tried);
    }

    /** Returns transactions of this database in which Postrider writes its own row together with the caller's work. */
    public Transactions transactions(HandOver handOver) {
        return new Transactions() {
            @Override
            public <T, X extends Exception> T run(Work<T, X> work, Consumer<UnitOfWork> last) throws X {
                return inLazyTransaction(work, last, handOver);
            }

            @Override
            public Part join(Connection connection) {
                return new SavepointScope(connection, outboxes, settings.stagedLimit());
            }

            @Override
            public boolean isConflict(Throwable failure) {
                return SqlErrors.isCausedByConflict(failure);
            }
        };
    }

    /** As {@link #inTransaction}, but it takes the connection at its first use: at the latest for the {@code last} action. */
    private <T, X extends Exception> T inLazyTransaction(Work<T, X> work, Consumer<UnitOfWork> last, HandOver handOver)
            throws X {
        try (LazyUnitOfWork unit =
                new LazyUnitOfWork(() -> begin(null), connection -> unitOfWork(connection, handOver))) {
            T result;
            try {
                result = work.run(unit);
                unit.commit(last);
            } catch (Throwable e) {
                unit.rollback(e);
                throw e;
            }
            unit.committed();
            return result;
        }
    }

    /** Returns a unit of work in a transaction that the caller commits. */
    public JdbcUnitOfWork unitOfWork(Connection connection) {
        return unitOfWork(connection, HandOver.none());
    }

    /** As {@link #unitOfWork(Connection)}, with local hand-over after the commit. */
    public JdbcUnitOfWork unitOfWork(Connection connection, HandOver handOver) {
        return new JdbcUnitOfWork(connection, outboxes, settings.stagedLimit(), handOver);
    }

    /** Returns a unit of work in which a message is handled, and which refuses to write that message again. */
    public JdbcUnitOfWork handlingUnit(Connection connection, HandOver handOver, MessageId handled) {
        return new JdbcUnitOfWork(connection, outboxes, settings.stagedLimit(), handOver, handled);
    }
}
