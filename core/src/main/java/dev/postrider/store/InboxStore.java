package dev.postrider.store;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.util.List;

/** Which messages each consumer has had. Works in transactions that others began, and never ends one. Thread-safe. */
public interface InboxStore {

    /**
     * Marks the messages as received by the consumer, and says which of them are new to it. The marks commit with the transaction or
     * vanish with it, and so does the answer. A message that another transaction has marked and not committed is waited for. All
     * batches take their marks in the same order, so that two of them do not wait for each other.
     *
     * @param connection in a transaction that the caller commits
     * @throws dev.postrider.error.InvalidMessageException before anything is written, when a message is missing
     * @throws dev.postrider.error.UnusableConnectionException before anything is written, when the connection is in no transaction of
     *     this database
     * @throws dev.postrider.error.TransactionConflictException when the whole transaction must be run again; it is rolled back
     */
    Accepted accept(Connection connection, String consumer, List<Message> received);
}
