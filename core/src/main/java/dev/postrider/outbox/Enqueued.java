package dev.postrider.outbox;

import dev.postrider.message.MessageId;
import java.util.function.Function;

/**
 * The result of writing a message: created, or a duplicate of an earlier message. Both results are a success.
 * Immutable.
 */
public sealed interface Enqueued {

    /** Returns the id of the message that will be delivered: the new message, or the first one with the same key. */
    MessageId id();

    /** Returns the key that makes the message unique: its idempotency key, or its id if it has none. */
    String key();

    /** Returns whether an earlier message has the same key. */
    default boolean isDuplicate() {
        return this instanceof Duplicate;
    }

    /** Applies the function for the kind of this result, and returns its value. */
    default <T> T fold(
            Function<? super Created, ? extends T> created, Function<? super Duplicate, ? extends T> duplicate) {
        return this instanceof Created written ? created.apply(written) : duplicate.apply((Duplicate) this);
    }

    /** The message is written. It will be delivered after the transaction commits. */
    record Created(MessageId id, String key) implements Enqueued {}

    /**
     * A message with this key was written before. Nothing was added.
     *
     * @param firstId the message that was written first
     * @param samePayload whether both messages have the same payload. If not, two different events share a key, which
     *     is usually an error
     */
    record Duplicate(MessageId firstId, String key, boolean samePayload) implements Enqueued {

        @Override
        public MessageId id() {
            return firstId;
        }
    }
}
