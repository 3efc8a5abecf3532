package dev.postrider.admin;

import dev.postrider.message.Message;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message as the database holds it. Immutable.
 *
 * @param attempts how often its delivery was tried
 * @param crashes how many of these ended with the worker lost
 * @param availableAt when it is, or was, due
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
        @Nullable String worker,
        @Nullable String lastError,
        @Nullable String reason,
        @Nullable String fingerprint,
        Instant createdAt) {

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
