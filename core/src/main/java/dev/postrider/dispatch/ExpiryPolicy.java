package dev.postrider.dispatch;

/** The policy for a message that expires before it is delivered. */
public enum ExpiryPolicy {
    /** The message becomes a dead letter with the reason {@code EXPIRED}. */
    DEAD_LETTER,
    /** The message is removed. It is not archived, because it was not delivered. */
    REMOVE
}
