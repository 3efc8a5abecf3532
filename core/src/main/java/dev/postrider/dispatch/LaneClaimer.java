package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Reads the next messages of ordered topics from the lanes that this node owns. */
final class LaneClaimer implements Claimer {

    /** How many heads of blocked keys, or messages outside the order, one read takes from a lane. */
    private static final int TIMED_PER_LANE = 8;

    private final LaneStore store;
    private final Sequencers sequencers;
    private final InFlight inFlight;
    private final Platform time;
    private final EventListener events;

    LaneClaimer(LaneStore store, Sequencers sequencers, InFlight inFlight, Platform time, EventListener events) {
        this.store = store;
        this.sequencers = sequencers;
        this.inFlight = inFlight;
        this.time = time;
        this.events = events;
    }

    @Override
    public int freeCapacity(Topic topic) {
        return inFlight.freeBytes(topic) <= 0
                ? 0
                : sequencers.of(topic.name()).freeCapacity().values().stream()
                        .mapToInt(Integer::intValue)
                        .sum();
    }

    @Override
    public int capacity(Topic topic) {
        return sequencers.of(topic.name()).capacity();
    }

    @Override
    public boolean claim(Topic topic, int most, boolean due) {
        Sequencer sequencer = sequencers.of(topic.name());
        Map<Lane, Integer> lanes = sequencer.freeCapacity();
        sequencer.beginRead();
        try {
            return claim(topic, sequencer, lanes, due);
        } finally {
            sequencer.endRead();
        }
    }

    private boolean claim(Topic topic, Sequencer sequencer, Map<Lane, Integer> lanes, boolean due) {
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        List<LaneClaim> timed = due && !lanes.isEmpty()
                ? store.readTimed(topic.name(), lanes.keySet(), TIMED_PER_LANE, inFlight.freeBytes(topic))
                : List.of();
        offer(sequencer, timed, asked);
        long budget = inFlight.freeBytes(topic);
        List<LaneClaim> next = budget > 0 && !lanes.isEmpty() ? store.read(topic.name(), lanes, budget) : List.of();
        sequencer.readDone(lanes, next, bytes(next) >= budget || next.stream().anyMatch(LaneClaimer::isUnreadable));
        offer(sequencer, next, asked);
        releaseIfPaused(topic.name());
        return sequencer.hasUnread() || timed.size() >= TIMED_PER_LANE;
    }

    /** The payload of such a row has no size here, and may have used up the limit of bytes of its read. */
    private static boolean isUnreadable(LaneClaim claim) {
        return claim.unreadable() != null;
    }

    private static long bytes(List<LaneClaim> claims) {
        return claims.stream()
                .mapToLong(claim -> claim.claim().message().payload().size())
                .sum();
    }

    private void offer(Sequencer sequencer, List<LaneClaim> claims, LeaseValidity.Stamp asked) {
        if (!claims.isEmpty()) {
            events.on(new Event.Fetched(sequencer.topic().name(), claims.size()));
            sequencer.offer(claims, asked);
        }
    }

    /** Also compares, at each poll, the messages in flight as the store has recorded them with those of this node. */
    @Override
    public Map<TopicName, Duration> nextDue(Collection<TopicName> topics) {
        topics.forEach(topic -> store.reconcile(sequencers.of(topic).inFlight()));
        List<Lane> lanes = new ArrayList<>();
        topics.forEach(topic -> lanes.addAll(sequencers.of(topic).lanes()));
        Map<TopicName, Duration> due = lanes.isEmpty() ? Map.of() : store.nextDue(lanes);
        topics.forEach(this::releaseIfPaused);
        return due;
    }

    /**
     * Releases the unsent messages of a paused topic: they could wait for minutes if its handlers are slow. Messages
     * that were sent are finished.
     */
    private void releaseIfPaused(TopicName topic) {
        if (store.isPaused(topic)) {
            sequencers.of(topic).releaseUnsent();
        }
    }
}
