package dev.postrider.admin;

import dev.postrider.admin.StoredMessage.State;
import java.util.Set;

/** What an operator can do with messages. Each action changes messages in certain states only. */
public enum Action {
    /**
     * Returns a dead or parked message to the queue, due now, with all its attempts again. A dead letter that has expired
     * or was cancelled is not changed.
     */
    REPLAY(State.DEAD, State.PARKED),
    /**
     * Makes a retrying or scheduled message due now. On an ordered topic the head of a blocked key is attempted now; a
     * parked head has all its attempts again.
     */
    RETRY(State.RETRYING, State.SCHEDULED, State.PARKED),
    /** Keeps the retrying head of a blocked key for an operator. Unordered topics have no parked messages. */
    PARK(State.RETRYING),
    /** Makes a retrying or parked message a dead letter. A blocked key continues with its next message. */
    BURY(State.RETRYING, State.PARKED),
    /** Deletes a dead or parked message. A blocked key continues with its next message. */
    DISCARD(State.DEAD, State.PARKED),
    /**
     * Makes a message that is not being delivered a dead letter with the reason {@code CANCELLED}, which is never
     * replayed. A blocked key continues with its next message. On an ordered topic, a message that its node may have read
     * is not changed.
     */
    CANCEL(State.PENDING, State.SCHEDULED, State.RETRYING, State.BLOCKED, State.PARKED),
    /**
     * Writes a delivered message from the archive to the queue again, with the same id and due now. A consumer that remembers the id drops
     * it as a duplicate, so this repairs a consumer that has lost data.
     */
    REDELIVER(State.DELIVERED),
    /**
     * Writes a delivered message from the archive to the queue again, as a new message that is due now: with a new id, without an
     * idempotency key, and caused by the old message. Every consumer handles it again.
     */
    REDELIVER_AS_NEW(State.DELIVERED);

    @SuppressWarnings("ImmutableEnumChecker") // Set.of is immutable; its type does not say so
    private final Set<State> states;

    Action(State... states) {
        this.states = Set.of(states);
    }

    /** Whether the action writes delivered messages from the archive to the queue again. */
    public boolean isRedelivery() {
        return states.contains(State.DELIVERED);
    }

    /** Returns the states in which the action changes a message. */
    public Set<State> states() {
        return states;
    }
}
