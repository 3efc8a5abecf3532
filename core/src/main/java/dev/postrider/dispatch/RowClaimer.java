package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.MessageStore;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Unordered topics: each message is claimed by itself, whoever comes first. */
final class RowClaimer implements Claimer {

    private static final int SWEEP_LIMIT = 1000;

    private final MessageStore store;
    private final DispatchOptions options;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final Time time;
    private final EventListener events;

    RowClaimer(
            MessageStore store,
            DispatchOptions options,
            InFlight inFlight,
            DeliveryPipeline pipeline,
            Time time,
            EventListener events) {
        this.store = store;
        this.options = options;
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.time = time;
        this.events = events;
    }

    @Override
    public int room(Topic topic) {
        return inFlight.freeBytes(topic) <= 0 ? 0 : Math.min(inFlight.freeSlots(topic), options.batchSize());
    }

    @Override
    public int capacity(Topic topic) {
        return Math.min(options.batchSize(), topic.maxInFlight());
    }

    @Override
    public boolean claim(Topic topic, int room, boolean due) {
        InFlight.Room taken = inFlight.takeForClaim(topic, room);
        if (taken.slots() == 0) {
            inFlight.giveBack(taken);
            return true; // somebody was quicker: again when a slot is free
        }
        ClaimRequest request = request(topic, taken, due);
        List<Held> held = hold(topic, request, taken);
        boolean full = isFull(held, request);
        inFlight.claimed(topic, full);
        if (!held.isEmpty()) {
            events.on(new Event.Fetched(topic.name(), held.size()));
            held.forEach(pipeline::deliver);
        } else if (due) {
            sweep(topic); // perhaps a lease that ran out on its last attempt
        }
        return full;
    }

    /** @param due whether something is known to be due, perhaps a lease that ran out; otherwise something new may be there */
    private ClaimRequest request(Topic topic, InFlight.Room room, boolean due) {
        return new ClaimRequest(
                topic.name(),
                options.worker(),
                topic.tenants(),
                room.slots(),
                room.bytes(),
                options.lease(),
                topic.maxAttempts(),
                !due);
    }

    private List<Held> hold(Topic topic, ClaimRequest request, InFlight.Room room) {
        Tenure.Stamp asked = Tenure.Stamp.now(time);
        try {
            List<Claim> claims = store.claim(request);
            List<Held> held =
                    claims.stream().map(claim -> new Held(topic, claim, asked)).toList();
            held.forEach(inFlight::add); // all of them before the first answer can come
            return held;
        } finally {
            inFlight.giveBack(room);
        }
    }

    private static boolean isFull(List<Held> held, ClaimRequest request) {
        long bytes = held.stream().mapToLong(Held::bytes).sum();
        return held.size() >= request.limit() || bytes >= request.maxBytes();
    }

    private void sweep(Topic topic) {
        int buried = store.sweep(topic.name(), topic.maxAttempts(), SWEEP_LIMIT);
        if (buried > 0) {
            events.on(new Event.Swept(topic.name(), buried));
        }
    }

    @Override
    public Map<TopicName, Duration> nextDue(Collection<TopicName> topics) {
        return store.nextDue(topics);
    }
}
