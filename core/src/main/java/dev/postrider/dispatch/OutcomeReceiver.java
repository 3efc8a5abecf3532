package dev.postrider.dispatch;

import dev.postrider.store.Outcome;

/** Receives the outcomes of messages. Thread-safe; does not wait for the database. */
@FunctionalInterface
interface OutcomeReceiver {

    /** Takes the outcome of a message. Only the first outcome counts. */
    void decided(InFlightMessage claimed, Outcome outcome);

    /** Takes a message that was not attempted. */
    default void released(InFlightMessage claimed) {
        decided(claimed, new Outcome.Released(claimed.claim()));
    }
}
