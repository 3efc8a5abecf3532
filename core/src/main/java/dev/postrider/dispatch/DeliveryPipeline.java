package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The path of a message on this node: from its claim to its destination, and what came of it to the writer. Whatever a
 * transport does, every claim gets an outcome. Thread-safe.
 */
final class DeliveryPipeline {

    /** How much later than promised an answer may come. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Map<TopicName, Transport> transports;
    private final Verdict verdict;
    private final BiConsumer<Held, Outcome> decided;
    private final Time time;
    private final Duration lastStart;
    private volatile boolean closed;

    /**
     * @param decided told what came of each message
     * @param lastStart how old a lease may be for a delivery to begin under it
     */
    DeliveryPipeline(
            Map<TopicName, Transport> transports,
            Verdict verdict,
            BiConsumer<Held, Outcome> decided,
            Time time,
            Duration lastStart) {
        this.transports = transports;
        this.verdict = verdict;
        this.decided = decided;
        this.time = time;
        this.lastStart = lastStart;
    }

    void deliver(Held held) {
        if (closed || held.tenure().isLost() || held.tenure().sinceRenewal(time).compareTo(lastStart) >= 0) {
            decided.accept(held, new Outcome.Released(held.claim()));
            return;
        }
        try {
            send(held);
        } catch (Throwable e) {
            decide(held, null, e);
        }
    }

    /** From now on nothing is sent; what is claimed all the same is released. */
    void close() {
        closed = true;
    }

    /** Fails what should have been answered by now: a transport that breaks its word must not keep a slot for ever. */
    void giveUpOverdue(Collection<Held> inFlight) {
        for (Held held : inFlight) {
            if (held.isOverdue(time)) {
                decide(held, DeliveryResult.failed("The transport gave no answer within its timeout"), null);
            }
        }
    }

    private void send(Held held) {
        Transport transport = Objects.requireNonNull(transports.get(held.topic().name()));
        held.begin(time, transport.timeout().plus(PATIENCE));
        CompletionStage<DeliveryResult> answer = transport.deliver(
                new Delivery(held.claim().message(), held.claim().attempt()));
        if (answer == null) {
            decide(held, null, null);
        } else {
            answer.whenComplete((result, failure) -> decide(held, result, failure));
        }
    }

    private void decide(Held held, @Nullable DeliveryResult result, @Nullable Throwable failure) {
        DeliveryResult answer = failure == null ? result : Failures.classify(held.topic(), failure);
        decided.accept(held, verdict.on(held, answer));
    }
}
