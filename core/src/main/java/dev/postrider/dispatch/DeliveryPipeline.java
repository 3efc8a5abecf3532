package dev.postrider.dispatch;

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
 * The path of a message on this node: from its claim to whoever takes it to its destination. Whatever a
 * destination does, every claim gets an outcome. Thread-safe.
 */
final class DeliveryPipeline {

    private static final Logger log = LoggerFactory.getLogger(DeliveryPipeline.class);

    private final Map<TopicName, Courier> couriers;
    private final BiConsumer<Held, Outcome> decided;
    private final Time time;
    private final Duration lastStart;
    private volatile boolean closed;

    /**
     * @param decided told what came of messages that are not sent
     * @param lastStart how old a lease may be for a delivery to begin under it
     */
    DeliveryPipeline(
            Map<TopicName, Courier> couriers, BiConsumer<Held, Outcome> decided, Time time, Duration lastStart) {
        this.couriers = couriers;
        this.decided = decided;
        this.time = time;
        this.lastStart = lastStart;
    }

    void deliver(Held held) {
        if (closed || held.tenure().isLost() || held.tenure().sinceRenewal(time).compareTo(lastStart) >= 0) {
            decided.accept(held, new Outcome.Released(held.claim()));
            return;
        }
        if (held.claim().attempt() > held.topic().maxAttempts()) {
            decided.accept(held, Verdict.exhausted(held));
            return;
        }
        try {
            courier(held).carry(held);
        } catch (Throwable e) {
            // An Error, most likely. Whoever called has other messages to send, and a claim without an outcome is kept
            // for ever.
            log.error(
                    "A message of topic {} could not be delivered: it is tried again",
                    held.topic().name(),
                    e);
            decided.accept(held, new Outcome.Released(held.claim()));
        }
    }

    /** From now on nothing is sent; what is claimed all the same is released. */
    void close() {
        closed = true;
        couriers.values().forEach(Courier::close);
    }

    /** Looks for what should have been answered by now. */
    void giveUpOverdue(Collection<Held> inFlight) {
        for (Held held : inFlight) {
            if (held.isOverdue(time)) {
                courier(held).giveUp(held);
            }
        }
    }

    private Courier courier(Held held) {
        return Objects.requireNonNull(couriers.get(held.topic().name()));
    }
}
