package dev.postrider.outbox;

/**
 * The result of cancelling a message. Only {@link #CANCELLED} changes something. It is returned only if it is certain that
 * no node is delivering the message or will begin to, except a node that has lost its lease and does not know it yet.
 */
public enum Cancellation {
    /**
     * The message is cancelled when the transaction commits: it is a dead letter with the reason {@code CANCELLED}, and
     * never replayed. A repeated call has this result too.
     */
    CANCELLED,
    /**
     * A node is delivering the message, or another transaction has locked it, perhaps to deliver or to cancel it.
     * Nothing was changed.
     */
    IN_DELIVERY,
    /**
     * On an ordered topic: the node that delivers its lane may have read the message, and may be delivering it. Nothing
     * was changed. Messages of ordered topics are cancelled for certain while they are scheduled, while they or the
     * heads of their keys wait for the next attempt, and while they are parked.
     */
    MAY_BE_IN_DELIVERY,
    /** The message was delivered, is a dead letter, or was discarded. Nothing was changed. */
    FINISHED,
    /**
     * No such message is stored: it was never written, its transaction is not committed, or it was delivered and is not
     * in the archive. With an idempotency key: the key was not used. Nothing was changed. A staged message is not
     * written before the end of its unit of work.
     */
    NOT_FOUND
}
