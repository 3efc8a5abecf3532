package dev.postrider.transport;

import dev.postrider.error.PostriderException;

/** Thrown by a handler when a retry cannot succeed. The message becomes a dead letter without further attempts. */
public final class PermanentFailureException extends PostriderException {

    public PermanentFailureException(String message) {
        super(message);
    }

    public PermanentFailureException(String message, Throwable cause) {
        super(message, cause);
    }
}
