package dev.postrider.transport;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The result of a delivery attempt. Immutable. */
public sealed interface DeliveryResult {

    /** The destination confirmed the message. */
    record Delivered() implements DeliveryResult {}

    /**
     * The attempt failed. The message is retried.
     *
     * @param retryAfter the delay that the destination asked for; null if it did not
     */
    record Failed(String error, @Nullable Duration retryAfter) implements DeliveryResult {}

    /** The failure is permanent. The message becomes a dead letter without further attempts. */
    record Rejected(String error) implements DeliveryResult {}

    /** Returns a confirmed delivery. */
    static DeliveryResult delivered() {
        return new Delivered();
    }

    /** Returns a failed attempt. The retry policy of the topic sets the delay. */
    static DeliveryResult failed(String error) {
        return new Failed(error, null);
    }

    /** Returns a failed attempt with a delay that the destination asked for. */
    static DeliveryResult failed(String error, Duration retryAfter) {
        return new Failed(error, retryAfter);
    }

    /** Returns a permanent failure. */
    static DeliveryResult rejected(String error) {
        return new Rejected(error);
    }
}
