package dev.postrider.admin;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An action by filter that nodes work off in the background, as stored in the database. Immutable.
 *
 * @param id the number of the operation; the next page of the list continues below it
 * @param filter selects the messages, as the audit shows it
 * @param changed the number of messages that it has changed until now
 * @param skipped the number of selected messages that it has not changed, for the same reasons as an action by filter
 * @param node the node that made the last step; null before the first
 * @param startedAt when the first step began; null before that
 * @param updatedAt when it last advanced
 * @param endedAt when it ended; null while it is waiting or running
 * @param error why its last step failed; null if it did not
 */
public record Operation(
        long id,
        Action action,
        String filter,
        OperationTerms terms,
        OperationState state,
        long changed,
        long skipped,
        @Nullable String node,
        Instant createdAt,
        @Nullable Instant startedAt,
        Instant updatedAt,
        @Nullable Instant endedAt,
        @Nullable String error) {}
