package dev.postrider.admin;

import dev.postrider.message.Message;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message as the database holds it. Immutable.
 *
 * <p>A row that makes no message, because other software wrote it, is shown with a stand-in: a message of type {@link #UNREADABLE_TYPE}
 * with the id, the topic and the payload of the row. {@code lastError} says what is wrong with the row.
 *
 * @param attempts how often its delivery was tried
 * @param crashes how many of these ended with the worker lost
 * @param availableAt when it is, or was, due; of a delivered message, when it was due first
 * @param deliveredAt when it was delivered, if it was
 * @param worker who holds it, while it is being processed
 * @param reason why it is dead, if it is
 * @param fingerprint the same for like errors
 */
public record StoredMessage(
        long seq,
        Message message,
        State state,
        int attempts,
        int crashes,
        Instant availableAt,
        @Nullable Instant deliveredAt,
        @Nullable String worker,
        @Nullable String lastError,
        @Nullable String reason,
        @Nullable String fingerprint,
        Instant createdAt) {

    /** The type of the stand-in for a row that makes no message. */
    public static final String UNREADABLE_TYPE = "postrider.unreadable";

    /** Where a message can be. */
    public enum State {
        PENDING,
        PROCESSING,
        DEAD,
        DELIVERED,
        /** On an ordered topic: waits for its time, beside the order. */
        SCHEDULED,
        /** On an ordered topic: the first of its key, waits for its next attempt. */
        RETRY,
        /** On an ordered topic: waits behind the first of its key. */
        BLOCKED,
        /** On an ordered topic: the first of its key, waits for an operator. */
        PARKED
    }
}
