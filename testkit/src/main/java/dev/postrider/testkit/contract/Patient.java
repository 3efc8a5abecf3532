package dev.postrider.testkit.contract;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Promises an answer late enough for a test to hold it back, on a busy machine too. For the usual lease. */
record Patient(Transport transport) implements Transport {

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        return transport.deliver(delivery);
    }

    @Override
    public Duration timeout() {
        return Duration.ofSeconds(25);
    }
}
