package dev.postrider.transport;

import dev.postrider.error.PostriderException;
import java.time.Duration;

/** Thrown by a handler to say when the next attempt makes sense; takes the place of the topic's own delay if it is longer. */
public final class RetryLaterException extends PostriderException {

    private final Duration delay;

    public RetryLaterException(String message, Duration delay) {
        super(message);
        this.delay = delay;
    }

    public Duration delay() {
        return delay;
    }
}
