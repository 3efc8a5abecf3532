package dev.postrider.testkit;

import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** A transport that keeps what it is given, and answers as it is told: delivered, unless told otherwise. Thread-safe. */
public final class RecordingTransport implements Transport {

    private final Recorded<Delivery> deliveries = new Recorded<>();
    private volatile Function<Delivery, CompletionStage<DeliveryResult>> answer =
            delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());

    /** From now on, each delivery gets this answer at once. */
    public RecordingTransport answering(Function<Delivery, DeliveryResult> answer) {
        return answeringLater(delivery -> CompletableFuture.completedFuture(answer.apply(delivery)));
    }

    /** From now on, each delivery gets this answer when its stage completes. */
    public RecordingTransport answeringLater(Function<Delivery, CompletionStage<DeliveryResult>> answer) {
        this.answer = answer;
        return this;
    }

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        deliveries.add(delivery);
        return answer.apply(delivery);
    }

    @Override
    public Duration timeout() {
        return Duration.ofMillis(100);
    }

    /** Every attempt, in the order they came in. */
    public List<Delivery> deliveries() {
        return deliveries.all();
    }

    /**
     * Waits for so many attempts.
     *
     * @return every attempt, in the order they came in
     * @throws AssertionError if there are fewer when the time is over
     */
    public List<Delivery> await(int count, Duration limit) {
        return deliveries.await(count, limit, delivery -> true);
    }

    /** Forgets all attempts. */
    public void clear() {
        deliveries.clear();
    }

    /** The message of every attempt, in the order they came in. */
    public List<Message> messages() {
        return deliveries.all().stream().map(Delivery::message).toList();
    }
}
