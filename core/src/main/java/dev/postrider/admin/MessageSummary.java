package dev.postrider.admin;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message in a list, without its payload and its packed attributes: {@link Admin#find} returns these. Immutable.
 *
 * @param seq the number of the row
 * @param crashes the number of attempts that ended with the loss of the node
 * @param payloadBytes the size of the payload before it was compressed or encrypted; 0 in an archive without payloads
 * @param dueAt when the message is or was due; null for a delivered message
 * @param changedAt when an outcome or an operator last changed the row; null before that, and for a delivered message
 * @param deliveredAt when the message was delivered; null before that
 * @param worker the node that claimed the message; null when it is not being processed
 * @param reason why the message is dead or parked; null otherwise
 * @param fingerprint equal for errors that differ only in numbers and ids; null unless the message is dead or parked
 */
public record MessageSummary(
        long seq,
        MessageId id,
        TopicName topic,
        String type,
        @Nullable String tenant,
        @Nullable String orderingKey,
        @Nullable String idempotencyKey,
        StoredMessage.State state,
        int attempts,
        int crashes,
        long payloadBytes,
        Instant createdAt,
        @Nullable Instant dueAt,
        @Nullable Instant changedAt,
        @Nullable Instant deliveredAt,
        @Nullable String worker,
        @Nullable String lastError,
        @Nullable String reason,
        @Nullable String fingerprint) {}
