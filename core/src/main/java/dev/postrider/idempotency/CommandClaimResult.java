package dev.postrider.idempotency;

import dev.postrider.internal.store.CommandRecord;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The result of an attempt to claim a command. */
sealed interface CommandClaimResult {

    /**
     * The caller owns the command and runs it now.
     *
     * @param askedNanos a time before the statement that made the lease, by the monotonic clock of this node
     */
    record Claimed(CommandRecord row, long askedNanos) implements CommandClaimResult {}

    /** The command is completed or rejected, and its request was the same. */
    record Completed(CommandRecord row) implements CommandClaimResult {}

    /**
     * Another caller is running the command.
     *
     * @param reference null when the row could not be read: another transaction has locked it, or it changed too often
     */
    record InProgress(@Nullable UUID reference, Duration leaseLeft) implements CommandClaimResult {}

    /** The key was used for a different request. */
    record Mismatch() implements CommandClaimResult {}

    /** The command is uncertain. */
    record Uncertain(UUID reference) implements CommandClaimResult {}
}
