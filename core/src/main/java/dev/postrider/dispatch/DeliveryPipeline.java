package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes each message in flight to the delivery of its topic. Every claim gets an outcome, whatever its destination
 * does. Thread-safe.
 */
final class DeliveryPipeline {

    private static final Logger log = LoggerFactory.getLogger(DeliveryPipeline.class);

    private final Map<TopicName, TopicDelivery> deliveries;
    private final BiConsumer<InFlightMessage, Outcome> decided;
    private final Platform time;
    private final Duration lastStart;
    private volatile boolean closed;

    /**
     * @param decided receives the outcomes of messages that are not sent
     * @param lastStart the largest age of a lease at which a delivery may begin
     */
    DeliveryPipeline(
            Map<TopicName, TopicDelivery> deliveries,
            BiConsumer<InFlightMessage, Outcome> decided,
            Platform time,
            Duration lastStart) {
        this.deliveries = deliveries;
        this.decided = decided;
        this.time = time;
        this.lastStart = lastStart;
    }

    void deliver(InFlightMessage claimed) {
        if (closed
                || claimed.validity().isLost()
                || claimed.validity().sinceRenewal(time).compareTo(lastStart) >= 0) {
            decided.accept(claimed, new Outcome.Released(claimed.claim()));
            return;
        }
        if (claimed.claim().attempt() > claimed.topic().maxAttempts()) {
            decided.accept(claimed, OutcomeDecider.exhausted(claimed));
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
            decided.accept(claimed, new Outcome.Released(claimed.claim()));
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
            if (claimed.isOverdue(time)) {
                delivery(claimed).giveUp(claimed);
            }
        }
    }

    private TopicDelivery delivery(InFlightMessage claimed) {
        return Objects.requireNonNull(deliveries.get(claimed.topic().name()));
    }
}
