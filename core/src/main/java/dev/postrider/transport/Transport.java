package dev.postrider.transport;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Carries one message to a destination and says how it went. Called from many threads at once, without any database
 * transaction or connection held; must not block the calling thread for longer than it takes to hand the message over.
 */
public interface Transport {

    /**
     * Sends the message. {@link DeliveryResult.Delivered} means that the destination has confirmed it, not that it was sent. A
     * stage that completes exceptionally, and a call that throws, count as {@link DeliveryResult#failed} and are retried.
     */
    CompletionStage<DeliveryResult> deliver(Delivery delivery);

    /**
     * After how long a delivery has ended for certain, one way or the other. Must be shorter than the lease minus its headroom,
     * or the dispatcher refuses to start: otherwise a message could be delivered after another node took it over.
     */
    Duration timeout();
}
