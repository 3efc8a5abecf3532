package dev.postrider.dispatch;

import dev.postrider.message.TopicName;
import dev.postrider.store.Outcome;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** The path of a message on this node: from its claim to its destination, and what came of it to the writer. */
final class DeliveryPipeline {

    private final Map<TopicName, Transport> transports;
    private final Verdict verdict;
    private final OutcomeWriter writer;
    private final Time time;
    private final Duration lastStart;

    /** @param lastStart how old a lease may be for a delivery to begin under it */
    DeliveryPipeline(
            Map<TopicName, Transport> transports,
            Verdict verdict,
            OutcomeWriter writer,
            Time time,
            Duration lastStart) {
        this.transports = transports;
        this.verdict = verdict;
        this.writer = writer;
        this.time = time;
        this.lastStart = lastStart;
    }

    void deliver(Held held) {
        if (held.sinceRenewal(time).compareTo(lastStart) >= 0) {
            writer.add(held, new Outcome.Released(held.claim()));
            return;
        }
        Delivery delivery = new Delivery(held.claim().message(), held.claim().attempt());
        send(held.topic(), delivery).whenComplete((result, failure) -> {
            DeliveryResult answer = failure == null ? result : Failures.classify(held.topic(), failure);
            writer.add(held, verdict.on(held.topic(), held.claim(), answer));
        });
    }

    private CompletionStage<DeliveryResult> send(Topic topic, Delivery delivery) {
        try {
            Transport transport = transports.get(topic.name());
            CompletionStage<DeliveryResult> answer = transport == null ? null : transport.deliver(delivery);
            return answer == null ? CompletableFuture.completedFuture(null) : answer;
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
