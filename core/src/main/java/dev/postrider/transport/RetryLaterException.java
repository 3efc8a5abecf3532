package dev.postrider.transport;

import dev.postrider.error.PostriderException;
import java.time.Duration;

/**
 * Thrown by a handler to set the delay before the next attempt. The delay is used if it is longer than the delay of
 * the topic's retry policy.
 */
public final class RetryLaterException extends PostriderException {

    private final Duration delay;

    public RetryLaterException(String message, Duration delay) {
        super(message);
        this.delay = delay;
    }

    /** Returns the requested delay. */
    public Duration delay() {
        return delay;
    }
}
