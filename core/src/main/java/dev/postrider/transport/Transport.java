package dev.postrider.transport;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Sends a message to a destination and reports the result. It is called without an open transaction or connection, on
 * a thread of the topic. Calls for messages of one topic come one after another, calls for different topics at the
 * same time. A transport that several topics share must be thread-safe.
 *
 * <p>A call should start the delivery, return, and complete the stage later, from any thread. The thread that
 * completes the stage is not used to send another message. A blocking call delays the other messages of its topic,
 * but no other topic. A call that has not returned after {@link #timeout} counts as failed and is abandoned, and
 * another thread continues with the topic. When four calls of a topic are blocked like this, further messages of the
 * topic fail until one of the calls returns.
 */
public interface Transport {

    /**
     * Sends the message. {@link DeliveryResult.Delivered} means that the destination has confirmed the message, not
     * only that it was sent. A stage that completes exceptionally and a call that throws count as
     * {@link DeliveryResult#failed} and are retried.
     */
    CompletionStage<DeliveryResult> deliver(Delivery delivery);

    /**
     * Returns the time after which a delivery has certainly ended, with or without success. It must be shorter than
     * the lease minus its headroom. Otherwise the dispatcher refuses to start, because a message could be delivered
     * after another node took it over.
     */
    Duration timeout();
}
