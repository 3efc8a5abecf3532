package dev.postrider.transport;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** How a delivery attempt ended. */
public sealed interface DeliveryResult {

    /** The destination has confirmed the message. */
    record Delivered() implements DeliveryResult {}

    /**
     * It did not work this time; to be tried again.
     *
     * @param retryAfter how long the destination asked to be left alone, when it said so
     */
    record Failed(String error, @Nullable Duration retryAfter) implements DeliveryResult {}

    /** It will never work: the message is a dead letter at once. */
    record Rejected(String error) implements DeliveryResult {}

    static DeliveryResult delivered() {
        return new Delivered();
    }

    static DeliveryResult failed(String error) {
        return new Failed(error, null);
    }

    static DeliveryResult failed(String error, Duration retryAfter) {
        return new Failed(error, retryAfter);
    }

    static DeliveryResult rejected(String error) {
        return new Rejected(error);
    }
}
