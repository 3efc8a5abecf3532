package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What this node holds, what it is about to hold, and how much more it may. A message takes a slot from its delivery until
 * its outcome is written, so that no more than there are slots can come twice if this node is lost, and its bytes for as long as it is
 * held: what was read from a lane and waits its turn has no slot yet. Claims and hand-overs take their
 * room before they know what comes, so that those that go on at the same time do not exceed the limits together. Thread-safe.
 */
final class InFlight {

    private final int maxCount;
    private final long maxBytes;
    private final ToIntFunction<Topic> limitNow;

    // Everything under the lock of this object: a message passes here four times, and the lock is the cheapest part of
    // it.
    private final Set<Held> held = new LinkedHashSet<>();
    private int claimed;
    private int inLanes;

    // Taken for what is held and for what is about to be
    private final Map<TopicName, Count> takenPerTopic = new HashMap<>();
    private int taken;
    private long takenBytes;
    private boolean birthsWanted;
    private final Set<TopicName> behind = new HashSet<>();
    private boolean closed;

    private static final class Count {
        int value;
    }

    /** Room that was taken, to be filled or given back. */
    record Room(Topic topic, int slots, long bytes) {}

    /** @param limitNow how many messages of a topic may be under way at the moment, if that is less than it allows */
    InFlight(int maxCount, long maxBytes, ToIntFunction<Topic> limitNow) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
        this.limitNow = limitNow;
    }

    synchronized int freeSlots(Topic topic) {
        return closed
                ? 0
                : Math.min(
                        Math.min(topic.maxInFlight(), limitNow.applyAsInt(topic)) - takenOf(topic).value,
                        maxCount - taken);
    }

    /** Those that are about to be filled among them. */
    synchronized int slotsTaken() {
        return taken;
    }

    /** No slot is free from now on, however few are taken. */
    synchronized void closeSlots() {
        closed = true;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    synchronized void openSlots() {
        closed = false;
    }

    synchronized boolean isHeld(Held claim) {
        return held.contains(claim);
    }

    synchronized long freeBytes() {
        return maxBytes - takenBytes;
    }

    /** How many slots there are for this topic at most. */
    int limit(Topic topic) {
        return Math.min(topic.maxInFlight(), maxCount);
    }

    /** Everything that has no outcome yet. */
    synchronized int count() {
        return claimed + inLanes;
    }

    /** Of these, what was claimed by itself. */
    synchronized int claimed() {
        return claimed;
    }

    /** And what was read from lanes. */
    synchronized int inLanes() {
        return inLanes;
    }

    synchronized Collection<Held> all() {
        return List.copyOf(held);
    }

    /**
     * Takes room for a claim of up to so many messages; 0 slots when there is none. While messages are handed over on this node a
     * claim leaves a quarter of what is free to them: otherwise those written during the claim would find no room, and make the
     * next claim necessary.
     */
    synchronized Room takeForClaim(Topic topic, int wanted) {
        int free = freeSlots(topic);
        long bytes = Math.max(freeBytes(), 0);
        if (birthsWanted) {
            free -= free / 4;
            bytes -= bytes / 4;
            birthsWanted = false;
        }
        return take(topic, bytes == 0 ? 0 : Math.max(Math.min(free, wanted), 0), bytes);
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

    private Room take(Topic topic, int count, long bytes) {
        change(topic, count, bytes);
        return new Room(topic, count, bytes);
    }

    synchronized void giveBack(Room room) {
        change(room.topic(), -room.slots(), -room.bytes());
    }

    /** With a slot: it was claimed because there was one. */
    synchronized void add(Held claim) {
        hold(claim);
        takeSlot(claim);
    }

    /** Without a slot. */
    synchronized void hold(Held claim) {
        if (held.add(claim)) {
            count(claim, 1);
            takenBytes += claim.bytes();
        }
    }

    synchronized void takeSlot(Held claim) {
        if (!claim.hasSlot) {
            claim.hasSlot = true;
            change(claim.topic(), 1, 0);
        }
    }

    private void freeSlot(Held claim) {
        if (claim.hasSlot) {
            claim.hasSlot = false;
            change(claim.topic(), -1, 0);
        }
    }

    synchronized void remove(Held claim) {
        if (held.remove(claim)) {
            count(claim, -1);
            takenBytes -= claim.bytes();
            freeSlot(claim);
        }
    }

    private void change(Topic topic, int count, long bytes) {
        takenOf(topic).value += count;
        taken += count;
        takenBytes += bytes;
    }

    private Count takenOf(Topic topic) {
        return takenPerTopic.computeIfAbsent(topic.name(), name -> new Count());
    }

    private void count(Held claim, int change) {
        if (claim.inLane() == null) {
            claimed += change;
        } else {
            inLanes += change;
        }
    }
}
