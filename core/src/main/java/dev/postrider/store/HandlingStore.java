package dev.postrider.store;

import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Handles messages in the transactions that remove them: what a handler writes and that its message was handled commit together,
 * or neither does. While such a transaction is open nobody else gets the message, whatever becomes of its lease. Thread-safe.
 */
public interface HandlingStore {

    /**
     * A message to be handled.
     *
     * @param place where it stood in its lane; null for a message that was claimed by itself
     */
    record Item(Claim claim, LaneClaim.@Nullable Place place) {}

    /** What to do with a message. Called by the thread that runs the transaction. */
    @FunctionalInterface
    interface Handler {

        /**
         * @param message the claim's, or what it was when it came in
         * @throws Exception anything: what it wrote is rolled back
         */
        void handle(Claim claim, Message message, UnitOfWork work) throws Exception;
    }

    /** How a transaction runs. */
    record Terms(Handler handler, Duration timeout, HandOver handOver) {}

    /** How it ended for one message. */
    enum End {
        /** Committed: the message is gone. */
        DONE,
        /** The handler failed; what it wrote is rolled back. */
        FAILED,
        /** The message was no longer this claim's: the handler was not called. */
        LOST,
        /** Another transaction has the message locked, such as that of another node's handler: this handler was not called. */
        LOCKED,
        /** Rolled back, and not known to be this message's fault: the database failed, or another message of the transaction did. */
        UNDONE,
        /** The commit got no answer: {@link #gone} finds out. */
        UNKNOWN
    }

    /** What came of one message. */
    record Handled(Claim claim, End end, @Nullable Throwable failure) {}

    /** A transaction to come. */
    interface Transaction {

        /** Runs it, once, in the calling thread. Answers in the order of the items, and throws nothing. */
        List<Handled> run();

        /** From any thread: whatever is under way will not commit, and its connection is given up. */
        void abandon();

        /**
         * From any thread, after {@link #abandon}: ends its session at the server, which may be in the middle of a statement and does not
         * notice that its client is gone, so that the message comes free. May wait for the database.
         *
         * @return false when the database could not be reached; the locks stay until the statement ends
         */
        boolean endSession();
    }

    /**
     * Readies a transaction; nothing is sent before it is run. A single message is removed first and then handled. Several are locked
     * first, handled one after the other, each so that its failure leaves the others alone, and removed at the end.
     */
    Transaction transaction(List<Item> items, Terms terms);

    /**
     * Which of these have left the queue. Waits for transactions that are about to remove them.
     *
     * @throws dev.postrider.error.StoreUnavailableException when the database cannot be reached
     */
    Set<Claim> gone(Collection<Claim> claims);

    /** A handler that receives each message into the inbox of a consumer in this database. */
    Handler intoInbox(String consumer);

    /** A handler that gives what a consumer received without having a handler for it to those that it has by now. */
    Handler router(String consumer);
}
