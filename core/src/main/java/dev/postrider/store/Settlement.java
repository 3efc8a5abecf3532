package dev.postrider.store;

import dev.postrider.message.MessageId;
import java.util.function.Function;

/** The result of writing an outcome or extending a lease. Immutable. */
public sealed interface Settlement {

    /** Returns the claim. */
    Claim claim();

    /** Returns the id of the message. */
    default MessageId id() {
        return claim().message().id();
    }

    /** Returns whether the lease was lost. */
    default boolean isLost() {
        return this instanceof LeaseLost;
    }

    /** Returns whether another session has locked the row. */
    default boolean isLocked() {
        return this instanceof Locked;
    }

    /** Applies the function for the kind of this result, and returns its value. */
    default <T> T fold(
            Function<? super Settled, ? extends T> settled,
            Function<? super LeaseLost, ? extends T> leaseLost,
            Function<? super Locked, ? extends T> locked) {
        if (this instanceof Settled written) {
            return settled.apply(written);
        }
        return this instanceof LeaseLost lost ? leaseLost.apply(lost) : locked.apply((Locked) this);
    }

    /**
     * The outcome is written.
     *
     * @param keyBlocked in a lane: whether the key is blocked after this outcome. Another message of the key, or this
     *     message after its attempt, is then retrying, blocked or parked
     */
    record Settled(Claim claim, boolean keyBlocked) implements Settlement {

        /** Creates the result for a key that is not blocked. */
        public Settled(Claim claim) {
            this(claim, false);
        }
    }

    /**
     * The lease had expired and the message no longer belongs to this claim. Nothing was changed. This is not a
     * failure of the delivery.
     *
     * @param finished whether the message has left the queue: another node delivered it, or an operator discarded it
     */
    record LeaseLost(Claim claim, boolean finished) implements Settlement {}

    /**
     * Another session has locked the row, for example a handler whose connection was just lost. Nothing was changed,
     * and the statement did not wait. Write the same outcome again a little later. Until then, later outcomes of the
     * same ordering key get this result too, so that none overtakes it.
     */
    record Locked(Claim claim) implements Settlement {}
}
