package dev.postrider.admin;

import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * The dead and parked messages of one topic and type whose errors have the same fingerprint. Immutable.
 *
 * @param fingerprint null for messages without an error, such as a buried one
 * @param count the number of messages among those that were examined
 * @param first when the first of them failed for good
 * @param last when the last of them failed for good
 * @param sample the newest of them
 * @param error the error of the sample
 */
public record FailureGroup(
        @Nullable String fingerprint,
        TopicName topic,
        String type,
        long count,
        Instant first,
        Instant last,
        MessageId sample,
        @Nullable String error) {}
