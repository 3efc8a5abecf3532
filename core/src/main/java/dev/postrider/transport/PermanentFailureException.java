package dev.postrider.transport;

import dev.postrider.error.PostriderException;

/** Thrown by a handler to say that trying again is useless: the message becomes a dead letter at once. */
public final class PermanentFailureException extends PostriderException {

    public PermanentFailureException(String message) {
        super(message);
    }

    public PermanentFailureException(String message, Throwable cause) {
        super(message, cause);
    }
}
