package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.RowStore;
import dev.postrider.message.TopicName;
import dev.postrider.store.ClaimRequest;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/** Claims messages of unordered topics row by row. The first node that claims a message delivers it. */
final class RowClaimer implements Claimer {

    private static final int SWEEP_LIMIT = 1000;

    private final RowStore store;
    private final DispatchOptions options;
    private final InFlight inFlight;
    private final DeliveryPipeline pipeline;
    private final Platform time;
    private final EventListener events;

    RowClaimer(RowStore store, NodeSettings settings, InFlight inFlight, DeliveryPipeline pipeline, Platform time) {
        this.store = store;
        this.options = settings.options();
        this.events = settings.events();
        this.inFlight = inFlight;
        this.pipeline = pipeline;
        this.time = time;
    }

    @Override
    public int freeCapacity(Topic topic) {
        return inFlight.freeBytes(topic) <= 0 ? 0 : Math.min(inFlight.freeSlots(topic), options.batchSize());
    }

    @Override
    public int capacity(Topic topic) {
        return Math.min(options.batchSize(), topic.maxInFlight());
    }

    @Override
    public boolean claim(Topic topic, int most, boolean due) {
        InFlight.Reserved reserved = inFlight.reserveForClaim(topic, most);
        if (reserved.slots() == 0) {
            inFlight.giveBack(reserved);
            return true; // another thread was faster: claim again when a slot is free
        }
        ClaimRequest request = request(topic, reserved, due);
        List<InFlightMessage> claimed = claim(topic, request, reserved);
        boolean full = isFull(claimed, request);
        inFlight.claimed(topic, full);
        if (!claimed.isEmpty()) {
            events.on(new Event.Fetched(topic.name(), claimed.size()));
            claimed.forEach(pipeline::deliver);
        } else if (due) {
            sweep(topic); // a lease may have expired on its last attempt
        }
        return full;
    }

    /**
     * @param due whether a message is known to be due, perhaps by an expired lease; otherwise there may be new messages
     */
    private ClaimRequest request(Topic topic, InFlight.Reserved reserved, boolean due) {
        return new ClaimRequest(
                topic.name(),
                options.worker(),
                topic.tenants(),
                reserved.slots(),
                reserved.bytes(),
                options.lease(),
                topic.maxAttempts(),
                !due);
    }

    private List<InFlightMessage> claim(Topic topic, ClaimRequest request, InFlight.Reserved reserved) {
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        try {
            List<InFlightMessage> claimed = store.claimRows(request).stream()
                    .map(row -> InFlightMessage.claimed(topic, row, asked))
                    .toList();
            claimed.forEach(inFlight::add); // all of them before the first result can arrive
            return claimed;
        } finally {
            inFlight.giveBack(reserved);
        }
    }

    /** The payload of an unreadable row has no size here, and may have used up the limit of bytes. */
    private static boolean isFull(List<InFlightMessage> claimed, ClaimRequest request) {
        long bytes = claimed.stream().mapToLong(InFlightMessage::bytes).sum();
        return claimed.size() >= request.limit()
                || bytes >= request.maxBytes()
                || claimed.stream().anyMatch(message -> message.unreadable() != null);
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
