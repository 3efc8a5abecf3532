package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes each message in flight to the delivery of its topic. Every claim gets an outcome, whatever its destination
 * does. Thread-safe.
 */
final class DeliveryPipeline {

    private static final Logger log = LoggerFactory.getLogger(DeliveryPipeline.class);

    private final Map<TopicName, TopicDelivery> deliveries;
    private final OutcomeReceiver outcomes;
    private final LeaseValidity.Limit leaseLimit;
    private volatile boolean closed;

    /** @param outcomes receives the outcomes of messages that are not sent */
    DeliveryPipeline(
            Map<TopicName, TopicDelivery> deliveries, OutcomeReceiver outcomes, LeaseValidity.Limit leaseLimit) {
        this.deliveries = deliveries;
        this.outcomes = outcomes;
        this.leaseLimit = leaseLimit;
    }

    void deliver(InFlightMessage claimed) {
        if (closed || !leaseLimit.allowsStart(claimed.validity())) {
            outcomes.released(claimed);
            return;
        }
        String unreadable = claimed.unreadable();
        if (unreadable != null) {
            outcomes.decided(claimed, OutcomeDecider.unreadable(claimed, unreadable));
            return;
        }
        if (claimed.claim().attempt() > claimed.topic().maxAttempts()) {
            outcomes.decided(claimed, OutcomeDecider.exhausted(claimed));
            return;
        }
        try {
            delivery(claimed).deliver(claimed);
        } catch (Throwable e) {
            // Most likely an Error. The caller has other messages to send, and a claim without an outcome would stay in
            // flight for ever.
            log.error(
                    "A message of topic {} could not be delivered: it is tried again",
                    claimed.topic().name(),
                    e);
            outcomes.released(claimed);
        }
    }

    /**
     * Begins no further deliveries. Waiting messages, and messages that are still claimed, are released. Running
     * deliveries continue.
     */
    void drain() {
        closed = true;
        deliveries.values().forEach(TopicDelivery::drain);
    }

    /** Like {@link #drain}. In addition, running deliveries must not take effect any more. */
    void close() {
        closed = true;
        deliveries.values().forEach(TopicDelivery::close);
    }

    /** Gives up deliveries whose result is overdue. */
    void giveUpOverdue(Collection<InFlightMessage> inFlight) {
        for (InFlightMessage claimed : inFlight) {
            if (claimed.isOverdue(leaseLimit.platform())) {
                delivery(claimed).giveUp(claimed);
            }
        }
    }

    private TopicDelivery delivery(InFlightMessage claimed) {
        return Objects.requireNonNull(deliveries.get(claimed.topic().name()));
    }
}
