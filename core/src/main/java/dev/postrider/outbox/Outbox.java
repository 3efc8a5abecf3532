package dev.postrider.outbox;

import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes messages immediately, and cancels them, in the transaction of the connection for which it was obtained. If
 * this transaction or a savepoint in it rolls back, that is rolled back too. An outbox never opens a connection and never
 * commits. Use it from one thread, like the connection.
 *
 * <p>All methods throw {@link dev.postrider.error.InvalidMessageException} for a payload above the limit or a key
 * without the prefix of its tenant, {@link dev.postrider.error.UnknownTopicException} and
 * {@link dev.postrider.error.UnusableConnectionException}, all before anything is written. They throw
 * {@link dev.postrider.error.TransactionConflictException} when the whole transaction must be run again.
 */
public interface Outbox {

    /** Writes one message, in one round trip. */
    Enqueued enqueue(Message message);

    /** Writes several messages in one statement, in the given order. The results have the same order. */
    List<Enqueued> enqueueAll(Collection<Message> messages);

    /**
     * Cancels a message that is not being delivered. If the transaction rolls back, the message stays as it was. Until
     * the transaction ends, no node can begin to deliver the message, so keep the transaction short. The call does not
     * wait for a delivery. The idempotency key of the message stays used until its retention ends.
     */
    Cancellation cancel(MessageId id);

    /**
     * Cancels the message that was written with an idempotency key, as {@link #cancel(MessageId)} does.
     *
     * @param tenant the tenant of the message; null for none
     */
    Cancellation cancel(TopicName topic, @Nullable String tenant, String idempotencyKey);
}
