package dev.postrider.dispatch;

/** What becomes of a key of an ordered topic when its first message cannot be delivered. */
public enum FailurePolicy {
    /** The message is retried, and the later ones of its key wait for it. */
    BLOCK,
    /** The message is retried, and the later ones of its key go on without it: for this message the order is given up. */
    SKIP,
    /** The message is not retried: it and the later ones of its key wait for an operator. */
    PARK
}
