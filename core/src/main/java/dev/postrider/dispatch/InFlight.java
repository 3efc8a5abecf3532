package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * What this node holds, what it is about to hold, and how much more it may. Whoever wants to hold something takes the room for it
 * first, so that claims and hand-overs that go on at the same time do not exceed the limits together. Thread-safe.
 */
final class InFlight {

    private final int maxCount;
    private final long maxBytes;
    private final Set<Held> held = ConcurrentHashMap.newKeySet();
    private final AtomicInteger count = new AtomicInteger();

    // Held or about to be; under the lock of this object
    private final Map<TopicName, Integer> takenPerTopic = new HashMap<>();
    private int taken;
    private long takenBytes;
    private boolean birthsWanted;
    private final Set<TopicName> behind = new HashSet<>();

    /** Room that was taken, to be filled or given back. */
    record Room(Topic topic, int slots, long bytes) {}

    InFlight(int maxCount, long maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
    }

    /** How many messages are held. */
    int count() {
        return count.get();
    }

    Collection<Held> all() {
        return List.copyOf(held);
    }

    synchronized int freeSlots(Topic topic) {
        return freeBytes() <= 0
                ? 0
                : Math.min(topic.maxInFlight() - takenPerTopic.getOrDefault(topic.name(), 0), maxCount - taken);
    }

    synchronized long freeBytes() {
        return maxBytes - takenBytes;
    }

    /** How many messages of this topic this node holds at most. */
    int limit(Topic topic) {
        return Math.min(topic.maxInFlight(), maxCount);
    }

    /**
     * Takes room for a claim of up to so many messages; 0 slots when there is none. While messages are handed over on this node a
     * claim leaves a quarter of what is free to them: otherwise those written during the claim would find no room, and make the
     * next claim necessary.
     */
    synchronized Room takeForClaim(Topic topic, int wanted) {
        int slots = freeSlots(topic);
        long bytes = Math.max(freeBytes(), 0);
        if (birthsWanted) {
            slots -= slots / 4;
            bytes -= bytes / 4;
            birthsWanted = false;
        }
        return take(topic, Math.max(Math.min(slots, wanted), 0), bytes);
    }

    /**
     * Takes room for one message that is about to be written; null when there is none. Nor is there while older ones wait for theirs:
     * new messages that are always quicker would keep them waiting for ever.
     */
    @Nullable
    synchronized Room takeForBirth(Topic topic, long bytes) {
        birthsWanted = true;
        if (behind.contains(topic.name())) {
            return null;
        }
        if (freeSlots(topic) < 1 || freeBytes() < bytes) {
            behind.add(topic.name()); // it goes to the queue, and others after it
            return null;
        }
        return take(topic, 1, bytes);
    }

    /** A claim says whether messages of this topic are left waiting. */
    synchronized void claimed(Topic topic, boolean full) {
        if (full) {
            behind.add(topic.name());
        } else {
            behind.remove(topic.name());
        }
    }

    private Room take(Topic topic, int slots, long bytes) {
        Room room = new Room(topic, slots, bytes);
        change(room, 1);
        return room;
    }

    synchronized void giveBack(Room room) {
        change(room, -1);
    }

    /** Whatever the limits: the room was taken before, and is given back after. */
    void add(Held claim) {
        synchronized (this) {
            change(roomOf(claim), 1);
        }
        held.add(claim);
        count.incrementAndGet();
    }

    void remove(Held claim) {
        if (held.remove(claim)) {
            count.decrementAndGet();
            giveBack(roomOf(claim));
        }
    }

    private static Room roomOf(Held claim) {
        return new Room(claim.topic(), 1, claim.bytes());
    }

    private void change(Room room, int sign) {
        takenPerTopic.merge(room.topic().name(), sign * room.slots(), Integer::sum);
        taken += sign * room.slots();
        takenBytes += sign * room.bytes();
    }
}
