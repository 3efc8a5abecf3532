package dev.postrider.benchmarks.contender;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A destination that is not reachable: every attempt fails at once. */
record FailingTransport() implements Transport {

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        return CompletableFuture.completedFuture(DeliveryResult.failed("connection refused"));
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(10);
    }
}
