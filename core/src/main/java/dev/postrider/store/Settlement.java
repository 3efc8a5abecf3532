package dev.postrider.store;

import dev.postrider.message.MessageId;

/** What the database made of an outcome or an extension. */
public sealed interface Settlement {

    Claim claim();

    default MessageId id() {
        return claim().message().id();
    }

    default boolean isLost() {
        return this instanceof LeaseLost;
    }

    default boolean isLocked() {
        return this instanceof Locked;
    }

    /**
     * It is written.
     *
     * @param keyHeld in a lane: whether other messages of its key wait outside the order, or it does itself after it was tried
     */
    record Settled(Claim claim, boolean keyHeld) implements Settlement {

        public Settled(Claim claim) {
            this(claim, false);
        }
    }

    /**
     * The lease had run out and the message is no longer this claim's: nothing was changed. Not a failure of the delivery.
     *
     * @param finished the message has left the queue meanwhile: another worker delivered it, or an operator discarded it
     */
    record LeaseLost(Claim claim, boolean finished) implements Settlement {}

    /**
     * Another session has locked the row, perhaps a handler whose connection was lost a moment ago. Nothing was changed, and nobody
     * waited: the same outcome is to be written again a little later. Later outcomes of the same ordering key get this answer too until
     * then, so that none overtakes it.
     */
    record Locked(Claim claim) implements Settlement {}
}
