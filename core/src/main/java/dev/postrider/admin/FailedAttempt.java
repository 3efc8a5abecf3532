package dev.postrider.admin;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * One failed attempt to deliver a message. Immutable.
 *
 * @param attempt the number of the attempt, 1 for the first; a replay starts again with 1
 * @param at when its outcome was written, by the clock of the database; for the loss of a node, when another node noticed it
 * @param node the node that made the attempt; null when it is not known
 * @param took how long the delivery took; null when it is not known, as for the loss of a node
 * @param error the beginning of the error text, without secrets
 * @param fingerprint equal for errors that differ only in numbers and ids
 */
public record FailedAttempt(
        int attempt,
        Instant at,
        @Nullable String node,
        @Nullable Duration took,
        String error,
        String fingerprint) {}
