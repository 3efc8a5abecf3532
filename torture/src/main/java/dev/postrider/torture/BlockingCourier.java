package dev.postrider.torture;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

/** Blocks its caller for some messages before they are sent, as a client does whose buffer is full. Thread-safe. */
final class BlockingCourier implements Transport {

    /** Its share of the time that a delivery may take. */
    private static final int SHARE = 4;

    private final Courier courier;

    BlockingCourier(Courier courier) {
        this.courier = courier;
    }

    @Override
    public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
        long begin = System.nanoTime();
        if (delivery.message().type().equals(Business.SLOW)) {
            LockSupport.parkNanos(timeout().toNanos() / SHARE);
        }
        return courier.deliver(delivery, begin);
    }

    @Override
    public Duration timeout() {
        return courier.timeout();
    }
}
