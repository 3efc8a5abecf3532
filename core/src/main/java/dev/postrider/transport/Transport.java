package dev.postrider.transport;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * Carries one message to a destination and says how it went. Called without any database transaction or connection held, on a thread that
 * belongs to the topic: for one message of the topic after another, and for different topics at once. A transport that several topics share
 * must be thread-safe.
 *
 * <p>A call that blocks delays the other messages of its topic, and no other topic. A call that has not returned after {@link #timeout}
 * counts as failed and is left behind, and another thread goes on with the topic; when four calls of a topic are stuck, its further messages
 * fail until one returns. So a transport hands the message over and returns, and answers later, from any thread: the thread that completes
 * the stage is not used to send another message.
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
