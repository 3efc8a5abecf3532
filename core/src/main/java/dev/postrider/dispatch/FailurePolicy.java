package dev.postrider.dispatch;

/** The policy for a key of an ordered topic whose head fails. */
public enum FailurePolicy {
    /** The head is retried. Later messages of its key wait for it. */
    BLOCK,
    /** The message is retried. Later messages of its key do not wait for it, so it is delivered out of order. */
    CONTINUE,
    /** The head is parked and not retried. It and the later messages of its key wait for an operator. */
    PARK
}
