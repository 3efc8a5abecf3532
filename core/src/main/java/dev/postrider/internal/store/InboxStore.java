package dev.postrider.internal.store;

import dev.postrider.inbox.Accepted;
import dev.postrider.message.Message;
import java.sql.Connection;
import java.util.List;

/** Stores the marks of received messages, in transactions of its callers. It never ends a transaction. Thread-safe. */
public interface InboxStore {

    /**
     * Marks the messages as received by the consumer, and returns which of them are new. The marks commit or roll
     * back with the transaction, and the result is valid only if it commits. If another open transaction has marked a
     * message, this call waits for it. All batches insert their marks in the same order, to avoid deadlocks.
     *
     * @param connection a connection with an open transaction that the caller commits
     * @throws dev.postrider.error.InvalidMessageException before anything is written, when a message is null
     * @throws dev.postrider.error.UnusableConnectionException before anything is written, when the connection has no
     *     open transaction in this database
     * @throws dev.postrider.error.TransactionConflictException when the transaction was rolled back and must be run
     *     again as a whole
     */
    Accepted accept(Connection connection, String consumer, List<Message> received);
}
