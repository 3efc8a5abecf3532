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
 * The messages in flight on this node, the room that is reserved for further ones, and the limits of both. A message
 * has a slot from its delivery until its outcome is written. The number of slots bounds the duplicates after a loss of
 * this node. The bytes of a message count from its claim or read until its outcome is written. A message that was read
 * from a lane and is not sent yet has no slot. Claims and hand-overs reserve their room in advance, so that concurrent
 * ones do not exceed the limits together. Each topic has a share of the slots and of the bytes that no other topic can
 * take. Thread-safe.
 */
final class InFlight {

    private final ToIntFunction<Topic> limitNow;

    // The mutable state is guarded by the lock of this object. A message passes here four times, and the lock is the
    // cheapest part of that.
    private final Set<InFlightMessage> messages = new LinkedHashSet<>();
    private int claimed;
    private int inLanes;

    // Used by messages in flight and by reserved room
    private final SharedBudget slots;
    private final SharedBudget bytes;

    /** Whether a request for room failed since the last wake-up. */
    private boolean isWaitedFor;

    private volatile Runnable freed = () -> {};
    private boolean handOversWanted;
    private final Set<TopicName> behind = new HashSet<>();
    private boolean closed;

    /** Reserved slots and bytes. The caller adds its messages and then gives the room back. */
    record Room(Topic topic, int slots, long bytes) {}

    /**
     * @param slots the number of messages that may have a slot, divided among the topics
     * @param bytes the total size of the messages in flight, divided in the same way
     * @param limitNow the number of messages of a topic that may have a slot now, if that is lower than the limit of
     *     the topic
     */
    InFlight(SharedBudget slots, SharedBudget bytes, ToIntFunction<Topic> limitNow) {
        this.slots = slots;
        this.bytes = bytes;
        this.limitNow = limitNow;
    }

    /**
     * Sets the callback that runs when room is given back after a request for room failed. It runs in the thread that
     * gives the room back. {@link #remove} does not call it: the outcome writer removes many messages at once and wakes
     * the waiting threads itself.
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

    /** The number of taken slots, including reserved ones. */
    synchronized int slotsTaken() {
        return (int) slots.taken();
    }

    /** Makes {@link #freeSlots} return 0 until {@link #openSlots} is called, even if few slots are taken. */
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

    synchronized boolean contains(InFlightMessage claim) {
        return messages.contains(claim);
    }

    synchronized long freeBytes(Topic topic) {
        long free = bytes.free(topic.name());
        isWaitedFor |= free <= 0;
        return free;
    }

    /** The largest number of slots that this topic can have. */
    int limit(Topic topic) {
        return (int) Math.min(topic.maxInFlight(), slots.most());
    }

    /** The number of messages in flight. */
    synchronized int count() {
        return claimed + inLanes;
    }

    /** The number of messages in flight that were claimed or handed over, not read from lanes. */
    synchronized int claimed() {
        return claimed;
    }

    /** The number of messages in flight that were read from lanes. */
    synchronized int inLanes() {
        return inLanes;
    }

    synchronized Collection<InFlightMessage> all() {
        return List.copyOf(messages);
    }

    /**
     * Reserves room for a claim of up to this many messages. The room has 0 slots when none is free. While messages are
     * handed over on this node, a claim leaves a quarter of the free room to them. Otherwise messages that are written
     * during the claim would find no room and make another claim necessary.
     */
    synchronized Room takeForClaim(Topic topic, int wanted) {
        int free = freeSlots(topic);
        long bytes = Math.max(freeBytes(topic), 0);
        if (handOversWanted) {
            free -= free / 4;
            bytes -= bytes / 4;
            handOversWanted = false;
        }
        return take(topic, bytes == 0 ? 0 : Math.max(Math.min(free, wanted), 0), bytes);
    }

    /**
     * Reserves room for one message that is about to be inserted, or returns null when there is none. Also returns null
     * while older messages of the topic wait for room: otherwise new messages, which are always faster, would starve
     * them.
     */
    @Nullable
    synchronized Room reserveForHandOver(Topic topic, long bytes) {
        handOversWanted = true;
        if (behind.contains(topic.name())) {
            return null;
        }
        if (freeSlots(topic) < 1 || freeBytes(topic) < bytes) {
            behind.add(topic.name()); // a claim will find it, and later messages must not overtake it
            return null;
        }
        return take(topic, 1, bytes);
    }

    /** Records whether a claim left messages of this topic waiting. */
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

    /** Adds a message and takes a slot for it. */
    synchronized void add(InFlightMessage claim) {
        hold(claim);
        takeSlot(claim);
    }

    /**
     * Takes a slot for a message of a lane, in one step with the check.
     *
     * @param kept the number of slots to leave free
     * @return false if there is none
     */
    synchronized boolean tryTakeSlot(InFlightMessage claim, int kept) {
        boolean free = freeSlots(claim.topic()) > kept;
        if (free) {
            takeSlot(claim);
        }
        return free;
    }

    /** Adds a message without a slot. */
    synchronized void hold(InFlightMessage claim) {
        if (messages.add(claim)) {
            count(claim, 1);
            bytes.take(claim.topic().name(), claim.bytes());
        }
    }

    synchronized void takeSlot(InFlightMessage claim) {
        if (!claim.hasSlot) {
            claim.hasSlot = true;
            change(claim.topic(), 1, 0);
        }
    }

    private void freeSlot(InFlightMessage claim) {
        if (claim.hasSlot) {
            claim.hasSlot = false;
            change(claim.topic(), -1, 0);
        }
    }

    synchronized void remove(InFlightMessage claim) {
        if (messages.remove(claim)) {
            count(claim, -1);
            bytes.take(claim.topic().name(), -claim.bytes());
            freeSlot(claim);
        }
    }

    private void change(Topic topic, int count, long size) {
        slots.take(topic.name(), count);
        bytes.take(topic.name(), size);
    }

    private void count(InFlightMessage claim, int change) {
        if (claim.inLane() == null) {
            claimed += change;
        } else {
            inLanes += change;
        }
    }
}
