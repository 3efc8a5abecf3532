package dev.postrider.inbox;

import dev.postrider.message.Message;
import dev.postrider.store.Accepted;
import java.sql.Connection;
import java.util.Collection;

/**
 * The inbox of one consumer: a message takes effect once, however often it comes in. What tells messages apart is their tenant and
 * their id; consumers do not know of each other's. A message is remembered for the retention time of the inbox, counted from when it
 * was first seen, which should be longer than any sender keeps on trying. Thread-safe.
 *
 * <p>All methods throw {@link dev.postrider.error.InvalidMessageException}, before anything is written, when a message is missing,
 * or was built without an id: build received messages with {@link Message#received}.
 */
public interface Inbox {

    /**
     * Handles a received message in a transaction of its own, unless this consumer has had it before: the mark that it was received,
     * what the work writes through the unit of work, and the messages it sends commit together. These messages carry the received
     * one's correlation, causation and trace, unless they say otherwise.
     *
     * <p>A duplicate that comes in meanwhile, here or on another node, waits for that commit; if it is rolled back instead, the
     * duplicate is handled. When the database makes the transaction give way to another, the whole of it is run again a few times,
     * the work included: what the work does elsewhere than in this transaction may happen more than once.
     *
     * @throws X what the work threw; everything was rolled back, and the message can be handled when it comes again
     * @throws dev.postrider.error.StoreUnavailableException also when the commit was not answered: whether it was done is told when
     *     the message comes again
     * @throws dev.postrider.error.TransactionConflictException when the transaction gave way time and again
     */
    <X extends Exception> ProcessResult process(Message received, InboxWork<X> work) throws X;

    /**
     * The same in the transaction of this connection, which the caller commits; then {@code Postrider.wake()} tells the dispatcher of
     * messages that were sent. If the work throws, what was done since the call is undone, the mark included, and the transaction can go
     * on.
     *
     * @throws dev.postrider.error.UnusableConnectionException before anything is written, when the connection is in no transaction of
     *     this database
     * @throws dev.postrider.error.TransactionConflictException when the whole transaction must be run again; it is rolled back
     */
    <X extends Exception> ProcessResult process(Connection connection, Message received, InboxWork<X> work) throws X;

    /**
     * Marks many received messages in the transaction of this connection, and says which of them are new: the caller handles these
     * and commits. In one statement, on PostgreSQL, for some hundred messages.
     *
     * @throws dev.postrider.error.UnusableConnectionException before anything is written, when the connection is in no transaction of
     *     this database
     * @throws dev.postrider.error.TransactionConflictException when the whole transaction must be run again; it is rolled back
     */
    Accepted accept(Connection connection, Collection<Message> received);

    /**
     * Stores received messages, to be handled later: in one transaction the new ones are marked and given to all registered handlers of
     * their type, of this node and of others. When this returns the sender may be told that they arrived. Each handler then has its own
     * attempts, retries and dead letters. A message that no handler takes, one whose id belongs to another message, and one that is too
     * old to tell whether it was handled before, is kept as a dead letter of the consumer: one dead letter however often it comes.
     *
     * @return which of them were new
     * @throws dev.postrider.error.UnknownTopicException when no process has declared a durable inbox for this consumer
     * @throws dev.postrider.error.StoreUnavailableException also when the commit was not answered: receive them again
     * @throws dev.postrider.error.TransactionConflictException when the transaction gave way time and again
     */
    Accepted receive(Collection<Message> received);
}
