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

/**
 * A transport that records every delivery attempt. Its result is "delivered", unless {@link #answering} or {@link #answeringLater} set
 * another one. Thread-safe.
 */
public final class RecordingTransport implements Transport {

    private final Recorded<Delivery> deliveries = new Recorded<>();
    private volatile Function<Delivery, CompletionStage<DeliveryResult>> answer =
            delivery -> CompletableFuture.completedFuture(DeliveryResult.delivered());

    /** From now on, returns the result of this function for each attempt, already completed. */
    public RecordingTransport answering(Function<Delivery, DeliveryResult> answer) {
        return answeringLater(delivery -> CompletableFuture.completedFuture(answer.apply(delivery)));
    }

    /** From now on, returns the stage of this function for each attempt. The test completes the stage. */
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

    /** All attempts, in the order of their arrival. */
    public List<Delivery> deliveries() {
        return deliveries.all();
    }

    /**
     * Waits until there are at least {@code count} attempts.
     *
     * @return all attempts, in the order of their arrival
     * @throws AssertionError if there are fewer attempts after the time limit
     */
    public List<Delivery> await(int count, Duration limit) {
        return deliveries.await(count, limit, delivery -> true);
    }

    /** Removes all recorded attempts. */
    public void clear() {
        deliveries.clear();
    }

    /** The message of every attempt, in the order of the attempts. */
    public List<Message> messages() {
        return deliveries.all().stream().map(Delivery::message).toList();
    }
}
