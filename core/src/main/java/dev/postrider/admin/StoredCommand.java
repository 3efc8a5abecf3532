package dev.postrider.admin;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A command as operators see it, without its full key and its result. Immutable.
 *
 * @param keyPrefix the first characters of a long key, to distinguish it from others
 * @param stuck whether the command is in progress and its lease has expired
 * @param effectStarted whether the command may have had an effect in another system
 * @param reason why the command was rejected, or its last error
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

    /** The states of a command. */
    public enum State {
        IN_PROGRESS,
        COMPLETED,
        FAILED,
        UNCERTAIN
    }
}
