package dev.postrider.torture;

import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.LockSupport;

/** A transport that blocks its caller for some messages before it sends them, as a client with a full buffer does. Thread-safe. */
final class BlockingCourier implements Transport {

    /** The transport blocks for this fraction of its timeout. */
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
