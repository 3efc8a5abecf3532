package dev.postrider.inbox;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.util.Collection;

/**
 * The inbox of one consumer: each received message takes effect once, even if it is received several times. Messages
 * are identified by their tenant and their id. Each consumer has its own marks. A mark is kept for the retention time
 * of the inbox, counted from the first receipt. The retention time should be longer than the time for which any
 * sender retries. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.InvalidMessageException}, before anything is written, when a
 * message is null or was built without an id. Build received messages with {@link Message#received}.
 */
public interface Inbox {

    /**
     * Handles a received message in a new transaction, unless this consumer has already handled it. The mark of the
     * message, the changes of the work and the messages that it sends commit together. Sent messages get the
     * correlation id, causation id and trace of the received message, unless they set their own.
     *
     * <p>A duplicate that arrives during the transaction, on any node, waits for the commit. If the transaction rolls
     * back, the duplicate is handled. After a conflict with a concurrent transaction, the whole transaction including
     * the work is run again a few times. Effects of the work outside the transaction can therefore happen more than
     * once.
     *
     * @throws X the exception of the work. The transaction was rolled back, and the message can be received again
     * @throws dev.postrider.error.StoreUnavailableException also when the commit got no answer. The next call with
     *     the message shows whether it was committed
     * @throws dev.postrider.error.TransactionConflictException when the transaction still conflicts after several
     *     retries
     */
    <X extends Exception> ProcessResult process(Message received, InboxWork<X> work) throws X;

    /**
     * Handles a received message in the transaction of this connection, unless this consumer has already handled it.
     * The caller commits, and then calls {@code Postrider.wake()} for messages that were sent. If the work throws,
     * its changes and the mark are rolled back to the start of this call, and the transaction can continue.
     *
     * @throws X the exception of the work
     * @throws dev.postrider.error.UnusableConnectionException before anything is written, when the connection has no
     *     open transaction in this database
     * @throws dev.postrider.error.TransactionConflictException when the transaction was rolled back and must be run
     *     again as a whole
     */
    <X extends Exception> ProcessResult process(Connection connection, Message received, InboxWork<X> work) throws X;

    /**
     * Marks a batch of received messages in the transaction of this connection, and returns the new ones. The caller
     * handles the new messages and commits. On PostgreSQL one statement marks some hundred messages.
     *
     * @throws dev.postrider.error.UnusableConnectionException before anything is written, when the connection has no
     *     open transaction in this database
     * @throws dev.postrider.error.TransactionConflictException when the transaction was rolled back and must be run
     *     again as a whole
     */
    Accepted accept(Connection connection, Collection<Message> received);

    /**
     * Stores received messages in the durable inbox, to be handled later. One transaction marks the new messages and
     * stores them for all registered handlers of their type, on this node and on others. When this method returns,
     * the receipt can be acknowledged to the sender. Each handler has its own attempts, retries and dead letters.
     *
     * <p>A message becomes a dead letter of the consumer if it has no handler, if its id belongs to another message,
     * or if it is older than the kept marks. It is stored as one dead letter, even if it is received several times.
     *
     * @return the new messages, the duplicates, the collisions and the messages that are too old
     * @throws dev.postrider.error.UnknownTopicException when no process has declared a durable inbox for this
     *     consumer
     * @throws dev.postrider.error.StoreUnavailableException also when the commit got no answer. Receive the messages
     *     again
     * @throws dev.postrider.error.TransactionConflictException when the transaction still conflicts after several
     *     retries
     */
    Accepted receive(Collection<Message> received);
}
