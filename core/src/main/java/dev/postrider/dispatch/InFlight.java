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
 * The messages in flight on this node, the slots and bytes that are reserved for further ones, and the limits of both. A message
 * has a slot from its delivery until its outcome is written. The number of slots bounds the duplicates after a loss of
 * this node. The bytes of a message count from its claim or read until its outcome is written. A message that was read
 * from a lane and is not sent yet has no slot. Claims and hand-overs reserve them in advance, so that concurrent
 * ones do not exceed the limits together. Each topic has a share of the slots and of the bytes that no other topic can
 * take. Thread-safe.
 */
final class InFlight {

    private final ToIntFunction<Topic> breakerLimit;

    // The mutable state is guarded by the lock of this object. A message passes here four times, and the lock is the
    // cheapest part of that.
    private final Set<InFlightMessage> messages = new LinkedHashSet<>();
    private int claimed;
    private int inLanes;

    // Used by messages in flight and by reservations
    private final SharedBudget slots;
    private final SharedBudget bytes;

    /** Whether a request for slots or bytes failed since the last wake-up. */
    private boolean isWanted;

    private volatile SlotListener listener = () -> {};
    private boolean handOversWanted;

    /** The topics with older messages that wait for a slot in the database. */
    private final Set<TopicName> waitingTopics = new HashSet<>();

    private boolean closed;

    /** Called when slots or bytes are free that were waited for. */
    @FunctionalInterface
    interface SlotListener {
        void slotsFreed();
    }

    /** Reserved slots and bytes. The caller adds its messages and then gives the reservation back. */
    record Reserved(Topic topic, int slots, long bytes) {}

    /**
     * @param slots the number of messages that may have a slot, divided among the topics
     * @param bytes the total size of the messages in flight, divided in the same way
     * @param breakerLimit the number of messages of a topic that may have a slot now, if that is lower than the limit of
     *     the topic
     */
    InFlight(SharedBudget slots, SharedBudget bytes, ToIntFunction<Topic> breakerLimit) {
        this.slots = slots;
        this.bytes = bytes;
        this.breakerLimit = breakerLimit;
    }

    /**
     * Sets the listener, which is called when slots or bytes are given back after a request for some failed, in the
     * thread that gives them back. {@link #remove} does not call it: the outcome writer removes many messages at once and wakes
     * the waiting threads itself.
     */
    void onFreed(SlotListener listener) {
        this.listener = listener;
    }

    synchronized int freeSlots(Topic topic) {
        int free = closed
                ? 0
                : (int) Math.min(
                        Math.min(topic.maxInFlight(), breakerLimit.applyAsInt(topic)) - slots.taken(topic.name()),
                        slots.free(topic.name()));
        isWanted |= free <= 0;
        return free;
    }

    /** The number of taken slots, including reserved ones. */
    synchronized int slotsTaken() {
        return (int) slots.taken();
    }

    /** The number of slots that a topic has taken, including reserved ones. */
    synchronized int slotsTaken(Topic topic) {
        return (int) slots.taken(topic.name());
    }

    /**
     * The number of taken slots, including reserved ones, without those of messages whose outcome is decided and not
     * written yet.
     */
    synchronized int slotsWithoutOutcome() {
        long decided = messages.stream()
                .filter(claimed -> claimed.hasSlot && claimed.isDecided())
                .count();
        return (int) (slots.taken() - decided);
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
        notifyIfWanted();
    }

    private void notifyIfWanted() {
        boolean wake;
        synchronized (this) {
            wake = isWanted;
            isWanted = false;
        }
        if (wake) {
            listener.slotsFreed();
        }
    }

    synchronized boolean contains(InFlightMessage message) {
        return messages.contains(message);
    }

    synchronized long freeBytes(Topic topic) {
        long free = bytes.free(topic.name());
        isWanted |= free <= 0;
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
     * Reserves slots for a claim of up to this many messages: 0 when none is free. While messages are
     * handed over on this node, a claim leaves a quarter of the free slots to them. Otherwise messages that are written
     * during the claim would find no slot and make another claim necessary.
     */
    synchronized Reserved reserveForClaim(Topic topic, int wanted) {
        int free = freeSlots(topic);
        long bytes = Math.max(freeBytes(topic), 0);
        if (handOversWanted) {
            free -= free / 4;
            bytes -= bytes / 4;
            handOversWanted = false;
        }
        return reserve(topic, bytes == 0 ? 0 : Math.max(Math.min(free, wanted), 0), bytes);
    }

    /**
     * Reserves a slot for one message that is about to be inserted, or returns null when there is none. Also returns null
     * while older messages of the topic wait for a slot: otherwise new messages, which are always faster, would starve
     * them.
     */
    @Nullable
    synchronized Reserved reserveForHandOver(Topic topic, long bytes) {
        handOversWanted = true;
        if (waitingTopics.contains(topic.name())) {
            return null;
        }
        if (freeSlots(topic) < 1 || freeBytes(topic) < bytes) {
            waitingTopics.add(topic.name()); // a claim will find it, and later messages must not overtake it
            return null;
        }
        return reserve(topic, 1, bytes);
    }

    /** Records whether a claim left messages of this topic waiting. */
    synchronized void claimed(Topic topic, boolean full) {
        if (full) {
            waitingTopics.add(topic.name());
        } else {
            waitingTopics.remove(topic.name());
        }
    }

    private Reserved reserve(Topic topic, int count, long bytes) {
        change(topic, count, bytes);
        return new Reserved(topic, count, bytes);
    }

    void giveBack(Reserved reserved) {
        synchronized (this) {
            change(reserved.topic(), -reserved.slots(), -reserved.bytes());
        }
        notifyIfWanted();
    }

    /** Adds a message and takes a slot for it. */
    synchronized void add(InFlightMessage message) {
        addWithoutSlot(message);
        takeSlot(message);
    }

    /**
     * Takes a slot for a message of a lane, in one step with the check.
     *
     * @param leftFree the number of slots to leave free
     * @return false if there is none
     */
    synchronized boolean tryTakeSlot(InFlightMessage message, int leftFree) {
        boolean free = freeSlots(message.topic()) > leftFree;
        if (free) {
            takeSlot(message);
        }
        return free;
    }

    /** Adds a message without a slot. */
    synchronized void addWithoutSlot(InFlightMessage message) {
        if (messages.add(message)) {
            count(message, 1);
            bytes.take(message.topic().name(), message.bytes());
        }
    }

    synchronized void takeSlot(InFlightMessage message) {
        if (!message.hasSlot) {
            message.hasSlot = true;
            change(message.topic(), 1, 0);
        }
    }

    private void freeSlot(InFlightMessage message) {
        if (message.hasSlot) {
            message.hasSlot = false;
            change(message.topic(), -1, 0);
        }
    }

    synchronized void remove(InFlightMessage message) {
        if (messages.remove(message)) {
            count(message, -1);
            bytes.take(message.topic().name(), -message.bytes());
            freeSlot(message);
        }
    }

    private void change(Topic topic, int count, long size) {
        if (count != 0) {
            slots.take(topic.name(), count);
        }
        if (size != 0) {
            bytes.take(topic.name(), size);
        }
    }

    private void count(InFlightMessage message, int change) {
        if (message.inLane() == null) {
            claimed += change;
        } else {
            inLanes += change;
        }
    }
}
