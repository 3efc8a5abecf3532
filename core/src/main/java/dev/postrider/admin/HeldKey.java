package dev.postrider.admin;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A key of an ordered topic that does not go on, because its first message was not delivered. Immutable.
 *
 * @param headSeq the number of its first message, to go on listing from
 * @param tenant null for messages without one
 * @param head the first message
 * @param attempts how often its delivery was tried
 * @param nextAttempt when it is tried again; null when that is up to an operator
 * @param reason why it is up to an operator; null when it is not
 * @param since when the last attempt ended
 * @param behind how many later messages of the key wait for it
 */
public record HeldKey(
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

    /** Whether it waits for an operator rather than for its next attempt. */
    public boolean isParked() {
        return reason != null;
    }
}
