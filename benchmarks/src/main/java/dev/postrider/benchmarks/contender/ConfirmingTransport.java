package dev.postrider.benchmarks.contender;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Confirms everything at once, but for keys that are to be refused: what is left to measure is the database's work and ours. */
record ConfirmingTransport(Receiver receiver) implements Transport {

    /** What the keys begin with whose messages are refused. */
    static final String REFUSED = "refused-";

    private static final CompletionStage<DeliveryResult> DELIVERED =
            CompletableFuture.completedFuture(DeliveryResult.delivered());

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        String key = delivery.message().key();
        if (key != null && key.startsWith(REFUSED)) {
            return CompletableFuture.completedFuture(DeliveryResult.rejected("refused"));
        }
        receiver.receive(Order.numberIn(delivery.message().payload().bytes()));
        return DELIVERED;
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(10);
    }
}
