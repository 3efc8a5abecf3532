package dev.postrider.admin;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A blocked key of an ordered topic: its head failed or is parked, and its later messages wait. Immutable.
 *
 * @param headSeq the number of the head; the next page of the list starts after it
 * @param tenant the tenant of the key; null for messages without a tenant
 * @param head the id of the head
 * @param attempts the number of delivery attempts of the head
 * @param nextAttempt the time of the next attempt; null when the head is parked
 * @param reason why the head is parked; null when it is not parked
 * @param since the end of the last attempt
 * @param behind the number of blocked messages behind the head
 */
public record BlockedKey(
        long headSeq,
        TopicName topic,
        @Nullable String tenant,
        String key,
        MessageId head,
        int attempts,
        @Nullable Instant nextAttempt,
        @Nullable String reason,
        @Nullable String lastError,
        Instant since,
        long behind) {

    /** Returns whether the head is parked and waits for an operator instead of its next attempt. */
    public boolean isParked() {
        return reason != null;
    }
}
