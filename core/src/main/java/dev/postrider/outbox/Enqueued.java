package dev.postrider.outbox;

import dev.postrider.message.MessageId;

/** What became of a message that was written. Both answers are success. */
public sealed interface Enqueued {

    /** The message that will be delivered: the new one, or the first one with the same key. */
    MessageId id();

    /** The key that makes it unique: its idempotency key, or its id. */
    String key();

    default boolean isDuplicate() {
        return this instanceof Duplicate;
    }

    /** The message is written and will be delivered once the transaction commits. */
    record Created(MessageId id, String key) implements Enqueued {}

    /**
     * A message with this key was written before; nothing was added.
     *
     * @param firstId the message that was written first
     * @param samePayload whether it has the same payload; if not, two different events share a key, which is usually a mistake
     */
    record Duplicate(MessageId firstId, String key, boolean samePayload) implements Enqueued {

        @Override
        public MessageId id() {
            return firstId;
        }
    }
}
