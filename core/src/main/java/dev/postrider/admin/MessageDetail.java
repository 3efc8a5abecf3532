package dev.postrider.admin;

import dev.postrider.message.MessageId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message, its failed attempts, and what it waits for. Immutable. A circuit breaker is in the memory of its node and
 * not shown here.
 *
 * @param failedAttempts the newest failed attempts, the newest first: at least four, and more the shorter the errors are.
 *     They are kept when the message is replayed, and in the archive. Losses of nodes are shown for messages of unordered
 *     topics only; the counts of the message have all
 * @param waits everything that the message waits for, the most lasting first; empty for a message that is finished or that
 *     a node will deliver next
 */
public record MessageDetail(StoredMessage message, List<FailedAttempt> failedAttempts, List<Wait> waits) {

    public MessageDetail {
        failedAttempts = List.copyOf(failedAttempts);
        waits = List.copyOf(waits);
    }

    /** What a message can wait for. */
    public enum WaitCause {
        /** For an operator: it is dead or parked, or in a state that other software has written. */
        OPERATOR,
        /** For the resumption of its paused topic. */
        PAUSED_TOPIC,
        /** For a node that delivers its topic. No live node does. */
        NO_NODE,
        /** For the head of its blocked key. */
        BLOCKED_KEY,
        /** For an earlier message of its key. */
        EARLIER_MESSAGE,
        /** For its due time. */
        DUE_TIME,
        /** For the end of its delivery, or of the lease of the node that claimed it. */
        DELIVERY
    }

    /**
     * One reason to wait.
     *
     * @param until the due time, the next attempt of the head, or the end of the lease; null if no time ends the wait
     * @param behind the message that comes first; null if there is none
     */
    public record Wait(
            WaitCause cause,
            @Nullable Instant until,
            @Nullable MessageId behind) {}
}
