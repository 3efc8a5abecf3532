package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.OrderingKey;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A lane that this node owns, with its messages in flight. Not thread-safe: guarded by the lock of its sequencer. */
final class OwnedLane {

    final Lane lane;
    final LeaseValidity validity;
    private final Map<OrderingKey, KeyQueue> keys = new HashMap<>();

    /** Whether this node releases the lane as soon as it has no messages in flight. */
    private boolean leaving;

    /** When the lane last began or stopped leaving. */
    private long changedNanos;

    /** The messages in flight when the lane stopped leaving because their deliveries took too long. */
    private final Set<InFlightMessage> slow = new HashSet<>();

    /** False once this node has lost or released the lane. */
    boolean isOwned = true;

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

    void startLeaving(Platform time) {
        leaving = true;
        changedNanos = time.nanos();
        slow.clear();
    }

    /** Keeps a leaving lane, perhaps because slow deliveries have used up the patience. */
    void stopLeaving(Platform time, Duration patience) {
        if (!mayContinueLeaving(time, patience)) {
            slow.addAll(inFlight);
        }
        leaving = false;
        changedNanos = time.nanos();
    }

    /** Whether it is leaving and the patience is not used up. */
    boolean mayContinueLeaving(Platform time, Duration patience) {
        return leaving && (inFlight.isEmpty() || time.nanos() - changedNanos < patience.toNanos());
    }

    /**
     * Whether it may start to leave, perhaps once more. A lane that stopped leaving because of slow deliveries may leave
     * when they have ended and this pause is over.
     */
    boolean mayStartLeaving(Platform time, Duration pause) {
        return inFlight.isEmpty()
                || slow.isEmpty()
                || (Collections.disjoint(slow, inFlight) && time.nanos() - changedNanos >= pause.toNanos());
    }

    /** The age of its oldest running delivery; zero if there is none. */
    Duration longestDelivery(Platform time) {
        return inFlight.stream()
                .filter(InFlightMessage::isBeingDelivered)
                .map(message -> message.sinceStart(time))
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    KeyQueue key(OrderingKey key) {
        return keys.computeIfAbsent(key, absent -> new KeyQueue(this, key));
    }

    Collection<KeyQueue> keys() {
        return List.copyOf(keys.values());
    }

    void removeIfIdle(KeyQueue key) {
        if (key.isIdle()) {
            keys.remove(key.key, key);
        }
    }

    /** Records that the release of a message of this key is written. */
    void releaseWritten(KeyQueue key) {
        key.unwrittenReleases = Math.max(key.unwrittenReleases - 1, 0);
        removeIfIdle(key);
    }

    /** The messages in flight of one ordering key: one is being delivered, the others wait behind it. Not thread-safe. */
    static final class KeyQueue {

        final OwnedLane lane;
        final OrderingKey key;

        /** The number of messages without a written outcome. The lane keeps this queue as long as there are any. */
        int unsettled;

        /** The message that is being delivered or is next to be delivered. */
        @Nullable
        InFlightMessage first;

        final Deque<InFlightMessage> behind = new ArrayDeque<>();

        /**
         * Whether the key is blocked: messages of the key wait in the database behind its head, and a message that is
         * read in order must be blocked too. Not set while this queue has a message that was read in order: if this
         * node loses or releases the lane, that message would be read again after the blocked messages.
         */
        boolean blocked;

        /**
         * The number of messages that failed or were blocked, and whose outcome is not written yet. Until then the database does not
         * show that the key is blocked.
         */
        int unwrittenBlocks;

        /**
         * The number of messages that were released, to be read again, and whose outcome is not written yet. Until then
         * no message of the key may be sent.
         */
        int unwrittenReleases;

        private KeyQueue(OwnedLane lane, OrderingKey key) {
            this.lane = lane;
            this.key = key;
        }

        boolean hasInOrder() {
            return (first != null && isInOrder(first)) || behind.stream().anyMatch(KeyQueue::isInOrder);
        }

        static boolean isInOrder(InFlightMessage message) {
            return message.isAt(LaneClaim.Place.IN_ORDER);
        }

        private boolean isIdle() {
            return unsettled == 0
                    && first == null
                    && behind.isEmpty()
                    && !blocked
                    && unwrittenBlocks == 0
                    && unwrittenReleases == 0;
        }
    }
}
