package dev.postrider.internal.store;

import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import java.sql.Connection;
import java.util.function.Consumer;

/** Transactions that write business rows, messages and the row of a command together. Thread-safe. */
public interface Transactions {

    /**
     * Runs the work in a new transaction, writes its staged messages, calls {@code last}, and commits. If anything
     * throws, the transaction rolls back and the exception is thrown. The transaction gets its connection and begins
     * when the work first uses it, at the latest for {@code last}.
     *
     * @param last the last statement of the transaction
     * @throws X the exception of the work
     */
    <T, X extends Exception> T run(Work<T, X> work, Consumer<UnitOfWork> last) throws X;

    /**
     * Joins the caller's transaction.
     *
     * @throws dev.postrider.error.UnusableConnectionException when the connection has no open transaction in this
     *     database
     */
    Part join(Connection connection);

    /**
     * Returns whether this failure or one of its causes is a conflict with a concurrent transaction. The transaction
     * can then be run again as a whole.
     */
    boolean isConflict(Throwable failure);

    /**
     * A part of the caller's transaction that can be rolled back without the rest, by savepoints. Use it from one
     * thread.
     */
    interface Part extends UnitOfWork {

        /** Sets a savepoint. */
        void mark();

        /** Rolls back to the last savepoint, removes it, and discards the staged messages. */
        void undo();

        /** Rolls back to the first savepoint. */
        void undoAll();

        /** Writes the staged messages. */
        void flush();
    }
}
