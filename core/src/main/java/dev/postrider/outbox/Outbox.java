package dev.postrider.outbox;

import dev.postrider.message.Message;
import java.util.Collection;
import java.util.List;

/**
 * Writes messages in the transaction of the connection it was obtained for, at once. If that transaction rolls back, or a
 * savepoint in it does, the messages are gone. Never opens a connection, never commits. As thread-safe as the connection: use
 * it from one thread.
 *
 * <p>Besides the bad inputs that {@link Message} refuses by itself, both methods throw, before anything is written,
 * {@link dev.postrider.error.InvalidMessageException} for a payload above the limit or a key without its tenant's prefix,
 * {@link dev.postrider.error.UnknownTopicException}, and {@link dev.postrider.error.UnusableConnectionException}; and
 * {@link dev.postrider.error.TransactionConflictException} when the whole transaction must be run again.
 */
public interface Outbox {

    /** Writes one message, in one round trip. */
    Enqueued enqueue(Message message);

    /** Writes many in one statement, in the order given. The answers come in the same order. */
    List<Enqueued> enqueueAll(Collection<Message> messages);
}
