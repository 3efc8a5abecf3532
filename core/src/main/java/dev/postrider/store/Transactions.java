package dev.postrider.store;

import dev.postrider.outbox.UnitOfWork;
import dev.postrider.outbox.Work;
import java.sql.Connection;
import java.util.function.Consumer;

/** Transactions in which business rows, messages and a row of ours are written together. Thread-safe. */
public interface Transactions {

    /**
     * Runs the work in a transaction of its own, writes the messages it staged, does the last thing, and commits; or rolls all of it
     * back and throws what was thrown. The transaction begins, and takes its connection, when the work first uses it, or else for the
     * last thing.
     *
     * @param last the last statement of the transaction
     */
    <T, X extends Exception> T run(Work<T, X> work, Consumer<UnitOfWork> last) throws X;

    /**
     * A part of the caller's transaction.
     *
     * @throws dev.postrider.error.UnusableConnectionException when the connection is in no transaction of this database
     */
    Part join(Connection connection);

    /**
     * Whether this failure, or one that caused it, says that the database made a transaction give way to another one. It can then be
     * run again as a whole.
     */
    boolean isConflict(Throwable failure);

    /** A part of somebody's transaction that can be undone without the rest. Use it from one thread. */
    interface Part extends UnitOfWork {

        /** What is written from here on can be undone. */
        void mark();

        /** Undoes what was written since the last mark, which is then gone, and forgets what was staged. */
        void undo();

        /** Undoes everything since the first mark. */
        void undoAll();

        /** Writes what was staged. */
        void flush();
    }
}
