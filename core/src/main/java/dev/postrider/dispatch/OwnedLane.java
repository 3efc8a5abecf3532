package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.store.Lane;
import dev.postrider.store.OrderingKey;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A lane that this node owns, with its messages in flight. Not thread-safe. */
final class OwnedLane {

    final Lane lane;
    final LeaseValidity validity;
    private final Map<OrderingKey, KeyQueue> keys = new HashMap<>();

    /** Whether this node releases the lane as soon as it has no messages in flight. */
    private boolean leaving;

    /** When the lane last began or stopped leaving. */
    private long decidedNanos;

    /** The messages in flight when the lane was kept because they took too long. */
    private final Set<InFlightMessage> slow = new HashSet<>();

    /** Whether this node has lost or released the lane. */
    boolean gone;

    /**
     * Its messages in flight. The store records their numbers too and is compared with this set. The set has objects,
     * not numbers: a message can be read again before this node has processed the result of its last outcome.
     */
    final Set<InFlightMessage> inFlight = new HashSet<>();

    /** Whether the database may have more of its messages than the last read returned or had room for. */
    boolean unread = true;

    OwnedLane(Lane lane, LeaseValidity validity) {
        this.lane = lane;
        this.validity = validity;
        lane.blockedKeys().forEach(key -> key(key).blocked = true);
    }

    boolean isLeaving() {
        return leaving;
    }

    void leave(Platform time) {
        leaving = true;
        decidedNanos = time.nanos();
        slow.clear();
    }

    /** Keeps a leaving lane, perhaps because slow deliveries have used up the patience. */
    void stay(Platform time, Duration patience) {
        if (!goesOnLeaving(time, patience)) {
            slow.addAll(inFlight);
        }
        leaving = false;
        decidedNanos = time.nanos();
    }

    /** Whether it is leaving and the patience is not used up. */
    boolean goesOnLeaving(Platform time, Duration patience) {
        return leaving && (inFlight.isEmpty() || time.nanos() - decidedNanos < patience.toNanos());
    }

    /**
     * Whether it may leave, perhaps once more. A lane that was kept because of slow deliveries may leave when they have
     * ended and this time is over.
     */
    boolean mayLeave(Platform time, Duration rest) {
        return inFlight.isEmpty()
                || slow.isEmpty()
                || (Collections.disjoint(slow, inFlight) && time.nanos() - decidedNanos >= rest.toNanos());
    }

    /** The age of its oldest running delivery; zero if there is none. */
    Duration longestUnderWay(Platform time) {
        return inFlight.stream()
                .filter(InFlightMessage::isUnderWay)
                .map(claimed -> claimed.sinceStart(time))
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    KeyQueue key(OrderingKey key) {
        return keys.computeIfAbsent(key, absent -> new KeyQueue(this, key));
    }

    void forgetIfIdle(KeyQueue line) {
        if (line.isIdle()) {
            keys.remove(line.key, line);
        }
    }

    /** Records that the release of a message of this key is written. */
    void returned(KeyQueue line) {
        line.returning = Math.max(line.returning - 1, 0);
        forgetIfIdle(line);
    }

    Iterable<KeyQueue> lines() {
        return keys.values();
    }
}
