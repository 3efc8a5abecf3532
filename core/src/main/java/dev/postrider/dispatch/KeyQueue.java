package dev.postrider.dispatch;

import dev.postrider.store.LaneClaim;
import dev.postrider.store.OrderingKey;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The messages in flight of one ordering key: one is being delivered, the others wait behind it. Not thread-safe. */
final class KeyQueue {

    final OwnedLane lane;
    final OrderingKey key;

    /** The number of messages without a written outcome. The lane keeps this queue as long as there are any. */
    int inHand;

    /** The message that is being delivered or is next to be delivered. */
    @Nullable
    InFlightMessage first;

    final Deque<InFlightMessage> behind = new ArrayDeque<>();

    /**
     * Whether the key is blocked: messages of the key wait in the database behind its head, and a message that is read
     * in order must join them. Not set while this queue has a message that was read in order: if this node loses or
     * releases the lane, that message would be read again after the messages that have joined.
     */
    boolean blocked;

    /** The number of messages that join the blocked ones and whose outcome is not written yet. */
    int joining;

    /**
     * The number of messages that are being released, to be read again. Until their outcomes are written no message of
     * the key may be sent.
     */
    int returning;

    KeyQueue(OwnedLane lane, OrderingKey key) {
        this.lane = lane;
        this.key = key;
    }

    boolean hasInOrder() {
        return (first != null && isInOrder(first)) || behind.stream().anyMatch(KeyQueue::isInOrder);
    }

    static boolean isInOrder(InFlightMessage claimed) {
        LaneClaim claim = claimed.inLane();
        return claim != null && claim.place() == LaneClaim.Place.IN_ORDER;
    }

    boolean isIdle() {
        return inHand == 0 && first == null && behind.isEmpty() && !blocked && joining == 0 && returning == 0;
    }
}
