package dev.postrider.dispatch;

import dev.postrider.store.Lane;
import dev.postrider.store.OrderingKey;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A lane that this node holds, and what it has in its hands of it. Not thread-safe. */
final class LaneQueue {

    final Lane lane;
    final Tenure tenure;
    private final Map<OrderingKey, KeyLine> keys = new HashMap<>();

    /** To be given to another node as soon as nothing of it is in hand. */
    boolean leaving;

    /** It is no longer this node's, or was let go. */
    boolean gone;

    /**
     * Its messages that are in flight; the store notes their numbers for itself, and is compared with this. By their objects, not by their
     * numbers: a message can be read again before this node knows that its last outcome is written.
     */
    final Set<Held> inFlight = new HashSet<>();

    /** Whether there may be more of it in the database than the last look took or had room for. */
    boolean unread = true;

    LaneQueue(Lane lane, Tenure tenure) {
        this.lane = lane;
        this.tenure = tenure;
        lane.heldKeys().forEach(key -> key(key).held = true);
    }

    KeyLine key(OrderingKey key) {
        return keys.computeIfAbsent(key, absent -> new KeyLine(this, key));
    }

    void forgetIfIdle(KeyLine line) {
        if (line.isIdle()) {
            keys.remove(line.key, line);
        }
    }

    /** A message of the key that was being put back is there again. */
    void returned(KeyLine line) {
        line.returning = Math.max(line.returning - 1, 0);
        forgetIfIdle(line);
    }

    Iterable<KeyLine> lines() {
        return keys.values();
    }
}
