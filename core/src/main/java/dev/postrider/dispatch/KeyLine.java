package dev.postrider.dispatch;

import dev.postrider.store.LaneClaim;
import dev.postrider.store.OrderingKey;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** The messages of one key that are in this node's hands: one being sent, the others behind it. Not thread-safe. */
final class KeyLine {

    final LaneQueue lane;
    final OrderingKey key;

    /** How many have no written outcome yet; as long as there are any, this is the line of the key. */
    int inHand;

    /** The one that is sent, or about to be. */
    @Nullable
    Held first;

    final Deque<Held> behind = new ArrayDeque<>();

    /**
     * Messages of the key wait in the database, outside the order: what comes in order must join them. Not while anything of the line came in
     * order: if this node is lost, or gives the lane away, that is read again, after what has joined.
     */
    boolean held;

    /** How many are on their way to join them, and not written yet. */
    int joining;

    /** How many are being put back, to be read again: until that is done nothing of the key may be sent. */
    int returning;

    KeyLine(LaneQueue lane, OrderingKey key) {
        this.lane = lane;
        this.key = key;
    }

    boolean hasInOrder() {
        return (first != null && isInOrder(first)) || behind.stream().anyMatch(KeyLine::isInOrder);
    }

    static boolean isInOrder(Held held) {
        LaneClaim claim = held.inLane();
        return claim != null && claim.place() == LaneClaim.Place.IN_ORDER;
    }

    boolean isIdle() {
        return inHand == 0 && first == null && behind.isEmpty() && !held && joining == 0 && returning == 0;
    }
}
