package dev.postrider.internal.store;

import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import dev.postrider.store.Claim;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Runs handlers in the transaction that removes their message. The changes of a handler and the removal of its
 * message commit together or not at all. While the transaction is open, no other node can handle the message, even if
 * the lease expires. Thread-safe.
 */
public interface HandlingStore {

    /**
     * A message to be handled.
     *
     * @param place the place of the message in its lane; null for a message of an unordered topic
     */
    record Item(Claim claim, LaneClaim.@Nullable Place place) {}

    /** The code that handles a message. It is called by the thread that runs the transaction. */
    @FunctionalInterface
    interface Handler {

        /**
         * Handles one message.
         *
         * @param message the message of the claim, or the originally received message in a topic of the inbox
         * @throws Exception any exception rolls back the changes of the handler
         */
        void handle(Claim claim, Message message, UnitOfWork work) throws Exception;
    }

    /** The parameters of a transaction. */
    record Terms(Handler handler, Duration timeout, HandOver handOver) {}

    /** The result of the transaction for one message. */
    enum End {
        /** Committed. The message is removed. */
        DONE,
        /** The handler failed. Its changes are rolled back. */
        FAILED,
        /** The lease was lost before the handler was called. The handler was not called. */
        LOST,
        /**
         * Another transaction has locked the message, for example a handler on another node. The handler was not
         * called.
         */
        LOCKED,
        /**
         * Rolled back, and this message is not known to be the cause: the database failed, or another message of the
         * transaction failed.
         */
        UNDONE,
        /**
         * Rolled back because the connection was lost while the handler ran: the database failed, or the handler
         * caused the server to end the session.
         */
        DISCONNECTED,
        /** The commit got no answer. {@link #gone} finds the result. */
        UNKNOWN
    }

    /** The result for one message. */
    record HandlingResult(Claim claim, End end, @Nullable Throwable failure) {}

    /** A prepared transaction. */
    interface Transaction {

        /**
         * Runs the transaction once, in the calling thread. The results have the order of the items. It throws
         * nothing.
         */
        List<HandlingResult> run();

        /**
         * Makes sure that the transaction does not commit, and abandons its connection. May be called from any
         * thread.
         */
        void abandon();

        /**
         * Ends the session at the server after {@link #abandon}, so that the message is unlocked. Without this, a
         * session in the middle of a statement does not notice the lost client. May be called from any thread. May
         * wait for the database.
         *
         * @return false when the database could not be reached; the locks stay until the statement ends
         */
        boolean endSession();
    }

    /**
     * Prepares a transaction with messages of one topic. Nothing is sent before it is run. A single message is removed first and then handled,
     * unless its handler may end the transaction: then it is locked first and removed last, and its handler may be
     * called a second time.
     * Several messages are locked first, then handled one after another, and removed at the end. The failure of one
     * message does not affect the others.
     */
    Transaction transaction(List<Item> items, Terms terms);

    /**
     * Returns the claims whose messages have left the queue. Waits for open transactions that may remove them.
     *
     * @throws dev.postrider.error.StoreUnavailableException when the database cannot be reached
     */
    Set<Claim> gone(Collection<Claim> claims);

    /** Returns a handler that receives each message into the inbox of a consumer in this database. */
    Handler intoInbox(String consumer);

    /**
     * Returns a handler that routes messages, which a consumer received without a matching handler, to the handlers
     * that are registered now. It throws {@link NoHandlerException} when there is still none.
     */
    Handler router(String consumer);
}
