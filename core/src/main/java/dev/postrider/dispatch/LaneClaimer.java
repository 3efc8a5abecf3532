package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import dev.postrider.store.Lane;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.LaneStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Ordered topics: what is next in the lanes that this node holds. */
final class LaneClaimer implements Claimer {

    /** How many heads of held keys, or messages beside the order, are taken from one lane at once. */
    private static final int TIMED_PER_LANE = 8;

    private final LaneStore store;
    private final Map<TopicName, Sequencer> sequencers;
    private final InFlight inFlight;
    private final Time time;
    private final EventListener events;

    LaneClaimer(
            LaneStore store, Map<TopicName, Sequencer> sequencers, InFlight inFlight, Time time, EventListener events) {
        this.store = store;
        this.sequencers = sequencers;
        this.inFlight = inFlight;
        this.time = time;
        this.events = events;
    }

    @Override
    public int room(Topic topic) {
        return inFlight.freeBytes(topic) <= 0
                ? 0
                : of(topic.name()).room().values().stream()
                        .mapToInt(Integer::intValue)
                        .sum();
    }

    @Override
    public int capacity(Topic topic) {
        return of(topic.name()).capacity();
    }

    @Override
    public boolean claim(Topic topic, int room, boolean due) {
        Sequencer sequencer = of(topic.name());
        Map<Lane, Integer> lanes = sequencer.room();
        sequencer.beginRead();
        try {
            return claim(topic, sequencer, lanes, due);
        } finally {
            sequencer.endRead();
        }
    }

    private boolean claim(Topic topic, Sequencer sequencer, Map<Lane, Integer> lanes, boolean due) {
        Tenure.Stamp asked = Tenure.Stamp.now(time);
        List<LaneClaim> timed = due && !lanes.isEmpty()
                ? store.readTimed(topic.name(), lanes.keySet(), TIMED_PER_LANE, inFlight.freeBytes(topic))
                : List.of();
        handOver(sequencer, timed, asked);
        long budget = inFlight.freeBytes(topic);
        List<LaneClaim> next = budget > 0 && !lanes.isEmpty() ? store.read(topic.name(), lanes, budget) : List.of();
        sequencer.looked(lanes, next, bytes(next) >= budget);
        handOver(sequencer, next, asked);
        return sequencer.wantsMore() || timed.size() >= TIMED_PER_LANE;
    }

    private static long bytes(List<LaneClaim> claims) {
        return claims.stream()
                .mapToLong(claim -> claim.claim().message().payload().size())
                .sum();
    }

    private void handOver(Sequencer sequencer, List<LaneClaim> claims, Tenure.Stamp asked) {
        if (!claims.isEmpty()) {
            events.on(new Event.Fetched(sequencer.topic().name(), claims.size()));
            sequencer.offer(claims, asked);
        }
    }

    /** At each poll the store's notes are compared with what is in flight. */
    @Override
    public Map<TopicName, Duration> nextDue(Collection<TopicName> topics) {
        topics.forEach(topic -> store.reconcile(of(topic).inFlight()));
        List<Lane> lanes = new ArrayList<>();
        topics.forEach(topic -> lanes.addAll(of(topic).lanes()));
        return lanes.isEmpty() ? Map.of() : store.nextDue(lanes);
    }

    private Sequencer of(TopicName topic) {
        return Objects.requireNonNull(sequencers.get(topic));
    }
}
