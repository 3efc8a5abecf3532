package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * What this node holds, what it is about to hold, and how much more it may. A message takes a slot from its delivery until
 * its outcome is written, so that no more than there are slots can come twice if this node is lost, and its bytes for as long as it is
 * held: what was read from a lane and waits its turn has no slot yet. Claims and hand-overs take their
 * room before they know what comes, so that those that go on at the same time do not exceed the limits together. Each topic has a share of
 * the slots and of the bytes that no other topic can take. Thread-safe.
 */
final class InFlight {

    private final ToIntFunction<Topic> limitNow;

    // Everything under the lock of this object: a message passes here four times, and the lock is the cheapest part of
    // it.
    private final Set<Held> held = new LinkedHashSet<>();
    private int claimed;
    private int inLanes;

    // Taken for what is held and for what is about to be
    private final SharedBudget slots;
    private final SharedBudget bytes;

    /** Whether anybody found no room since the last wake-up. */
    private boolean isWaitedFor;

    private volatile Runnable freed = () -> {};
    private boolean birthsWanted;
    private final Set<TopicName> behind = new HashSet<>();
    private boolean closed;

    /** Room that was taken, to be filled or given back. */
    record Room(Topic topic, int slots, long bytes) {}

    /**
     * @param slots how many messages may be under way, divided among the topics
     * @param bytes how large the messages in hand may be together, divided alike
     * @param limitNow how many messages of a topic may be under way at the moment, if that is less than it allows
     */
    InFlight(SharedBudget slots, SharedBudget bytes, ToIntFunction<Topic> limitNow) {
        this.slots = slots;
        this.bytes = bytes;
        this.limitNow = limitNow;
    }

    /**
     * Told when room was given back that somebody may wait for, in the thread that gave it back. What becomes free by {@link #remove} is
     * not told: the writer of outcomes removes many messages at once and wakes whoever waits itself.
     */
    void onFreed(Runnable freed) {
        this.freed = freed;
    }

    synchronized int freeSlots(Topic topic) {
        int free = closed
                ? 0
                : (int) Math.min(
                        Math.min(topic.maxInFlight(), limitNow.applyAsInt(topic)) - slots.taken(topic.name()),
                        slots.free(topic.name()));
        isWaitedFor |= free <= 0;
        return free;
    }

    /** Those that are about to be filled among them. */
    synchronized int slotsTaken() {
        return (int) slots.taken();
    }

    /** No slot is free from now on, however few are taken. */
    synchronized void closeSlots() {
        closed = true;
    }

    synchronized boolean isClosed() {
        return closed;
    }

    void openSlots() {
        synchronized (this) {
            closed = false;
        }
        wakeIfWaitedFor();
    }

    private void wakeIfWaitedFor() {
        boolean wake;
        synchronized (this) {
            wake = isWaitedFor;
            isWaitedFor = false;
        }
        if (wake) {
            freed.run();
        }
    }

    synchronized boolean isHeld(Held claim) {
        return held.contains(claim);
    }

    synchronized long freeBytes(Topic topic) {
        long free = bytes.free(topic.name());
        isWaitedFor |= free <= 0;
        return free;
    }

    /** How many slots there are for this topic at most. */
    int limit(Topic topic) {
        return (int) Math.min(topic.maxInFlight(), slots.most());
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
        long bytes = Math.max(freeBytes(topic), 0);
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
        if (freeSlots(topic) < 1 || freeBytes(topic) < bytes) {
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

    void giveBack(Room room) {
        synchronized (this) {
            change(room.topic(), -room.slots(), -room.bytes());
        }
        wakeIfWaitedFor();
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
            bytes.take(claim.topic().name(), claim.bytes());
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
            bytes.take(claim.topic().name(), -claim.bytes());
            freeSlot(claim);
        }
    }

    private void change(Topic topic, int count, long size) {
        slots.take(topic.name(), count);
        bytes.take(topic.name(), size);
    }

    private void count(Held claim, int change) {
        if (claim.inLane() == null) {
            claimed += change;
        } else {
            inLanes += change;
        }
    }
}
