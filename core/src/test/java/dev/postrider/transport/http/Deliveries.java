package dev.postrider.transport.http;

import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

/** What the tests of this room share: a message and the wait for its delivery. */
final class Deliveries {

    static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

    private Deliveries() {}

    static Message.Builder order() {
        return Message.to("orders").type("order.placed").json("{\"n\": 1}").occurredAt(NOON);
    }

    static DeliveryResult deliver(Transport transport) {
        return deliver(transport, order().build());
    }

    static DeliveryResult deliver(Transport transport, Message message) {
        return deliver(transport, new Delivery(message, 1));
    }

    static DeliveryResult deliver(Transport transport, Delivery delivery) {
        try {
            return transport.deliver(delivery).toCompletableFuture().get(60, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("the delivery did not end with a result", e);
        }
    }

    static String errorOf(DeliveryResult result) {
        if (result instanceof DeliveryResult.Failed failed) {
            return failed.error();
        }
        if (result instanceof DeliveryResult.Rejected rejected) {
            return rejected.error();
        }
        throw new AssertionError("was delivered");
    }
}
