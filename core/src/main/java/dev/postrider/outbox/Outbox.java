package dev.postrider.outbox;

import dev.postrider.message.Message;
import java.util.Collection;
import java.util.List;

/**
 * Writes messages immediately, in the transaction of the connection for which it was obtained. If this transaction or
 * a savepoint in it rolls back, the messages are rolled back too. An outbox never opens a connection and never
 * commits. Use it from one thread, like the connection.
 *
 * <p>Both methods throw {@link dev.postrider.error.InvalidMessageException} for a payload above the limit or a key
 * without the prefix of its tenant, {@link dev.postrider.error.UnknownTopicException} and
 * {@link dev.postrider.error.UnusableConnectionException}, all before anything is written. They throw
 * {@link dev.postrider.error.TransactionConflictException} when the whole transaction must be run again.
 */
public interface Outbox {

    /** Writes one message, in one round trip. */
    Enqueued enqueue(Message message);

    /** Writes several messages in one statement, in the given order. The results have the same order. */
    List<Enqueued> enqueueAll(Collection<Message> messages);
}
