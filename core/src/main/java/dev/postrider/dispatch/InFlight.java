package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** What this node holds, and how much more it may. Only the claim loop adds, so what it finds free stays free. Thread-safe. */
final class InFlight {

    private final int maxCount;
    private final long maxBytes;
    private final Set<Held> held = ConcurrentHashMap.newKeySet();
    private final Map<TopicName, AtomicInteger> perTopic = new ConcurrentHashMap<>();
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    InFlight(int maxCount, long maxBytes) {
        this.maxCount = maxCount;
        this.maxBytes = maxBytes;
    }

    int freeSlots(Topic topic) {
        return Math.min(topic.maxInFlight() - of(topic).get(), maxCount - count.get());
    }

    long freeBytes() {
        return maxBytes - bytes.get();
    }

    int count() {
        return count.get();
    }

    void add(Held claim) {
        held.add(claim);
        of(claim.topic()).incrementAndGet();
        count.incrementAndGet();
        bytes.addAndGet(claim.bytes());
    }

    void remove(Held claim) {
        if (held.remove(claim)) {
            of(claim.topic()).decrementAndGet();
            count.decrementAndGet();
            bytes.addAndGet(-claim.bytes());
        }
    }

    Collection<Held> all() {
        return List.copyOf(held);
    }

    private AtomicInteger of(Topic topic) {
        return perTopic.computeIfAbsent(topic.name(), name -> new AtomicInteger());
    }
}
