package dev.postrider.benchmarks.contender;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Confirms every message at once, except for refused keys, so that only the work of the database and of the dispatcher is measured. */
record ConfirmingTransport(Receiver receiver) implements Transport {

    /** The prefix of keys whose messages are refused. */
    static final String REFUSED = "refused-";

    private static final CompletionStage<DeliveryResult> DELIVERED =
            CompletableFuture.completedFuture(DeliveryResult.delivered());

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        String key = delivery.message().key();
        if (key != null && key.startsWith(REFUSED)) {
            return CompletableFuture.completedFuture(DeliveryResult.rejected("refused"));
        }
        int number = Order.numberIn(delivery.message().payload().bytes());
        StageTimes stages = receiver.stages();
        if (stages != null) {
            stages.called(number);
        }
        receiver.receive(number);
        return DELIVERED;
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(10);
    }
}
