package dev.postrider.contracts;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** A transport with a long timeout, so that a test can delay a result also on a busy machine. It fits the default lease. */
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
