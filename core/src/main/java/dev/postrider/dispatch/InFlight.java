package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What this node holds, and how much more it may. A message takes a slot while it is being delivered, and its bytes for as long as
 * it is held: what was read from a lane and waits its turn has no slot yet. Thread-safe.
 */
final class InFlight {

    private final int maxCount;
    private final long maxBytes;
    private final Set<Held> held = ConcurrentHashMap.newKeySet();
    private final Set<Held> slots = ConcurrentHashMap.newKeySet();
    private final Map<TopicName, AtomicInteger> perTopic = new ConcurrentHashMap<>();
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger claimed = new AtomicInteger();
    private final AtomicInteger inLanes = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();
    private volatile boolean closed;

    InFlight(int maxCount, long maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
    }

    int freeSlots(Topic topic) {
        return closed ? 0 : Math.min(topic.maxInFlight() - of(topic).get(), maxCount - taken.get());
    }

    int slotsTaken() {
        return taken.get();
    }

    /** No slot is free from now on, however few are taken. */
    void closeSlots() {
        closed = true;
    }

    void openSlots() {
        closed = false;
    }

    boolean isHeld(Held claim) {
        return held.contains(claim);
    }

    long freeBytes() {
        return maxBytes - bytes.get();
    }

    /** Everything that has no outcome yet. */
    int count() {
        return claimed.get() + inLanes.get();
    }

    /** Of these, what was claimed by itself. */
    int claimed() {
        return claimed.get();
    }

    /** And what was read from lanes. */
    int inLanes() {
        return inLanes.get();
    }

    /** With a slot: it was claimed because there was one. */
    void add(Held claim) {
        hold(claim);
        takeSlot(claim);
    }

    /** Without a slot. */
    void hold(Held claim) {
        held.add(claim);
        counter(claim).incrementAndGet();
        bytes.addAndGet(claim.bytes());
    }

    void takeSlot(Held claim) {
        if (slots.add(claim)) {
            of(claim.topic()).incrementAndGet();
            taken.incrementAndGet();
        }
    }

    void freeSlot(Held claim) {
        if (slots.remove(claim)) {
            of(claim.topic()).decrementAndGet();
            taken.decrementAndGet();
        }
    }

    void remove(Held claim) {
        if (held.remove(claim)) {
            counter(claim).decrementAndGet();
            bytes.addAndGet(-claim.bytes());
            freeSlot(claim);
        }
    }

    Collection<Held> all() {
        return List.copyOf(held);
    }

    private AtomicInteger counter(Held claim) {
        return claim.inLane() == null ? claimed : inLanes;
    }

    private AtomicInteger of(Topic topic) {
        return perTopic.computeIfAbsent(topic.name(), name -> new AtomicInteger());
    }
}
