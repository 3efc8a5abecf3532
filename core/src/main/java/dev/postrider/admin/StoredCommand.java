package dev.postrider.admin;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A command as an operator sees it. Neither its key nor its result is shown. Immutable.
 *
 * @param keyPrefix the beginning of a long key, to tell it from others
 * @param stuck whether its owner is silent for longer than its lease
 * @param effectStarted whether something may have happened elsewhere
 * @param reason why it was rejected, or the last error
 */
public record StoredCommand(
        UUID reference,
        String operation,
        @Nullable String tenant,
        @Nullable String caller,
        String keyPrefix,
        State state,
        boolean stuck,
        boolean effectStarted,
        int attempts,
        @Nullable String reason,
        Instant createdAt,
        Instant updatedAt,
        Instant leaseUntil,
        Instant keyExpiresAt) {

    /** Where a command can be. */
    public enum State {
        IN_PROGRESS,
        COMPLETED,
        FAILED,
        UNCERTAIN
    }
}
