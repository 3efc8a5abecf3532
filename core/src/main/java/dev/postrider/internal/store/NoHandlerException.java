package dev.postrider.internal.store;

import dev.postrider.error.PostriderException;
import dev.postrider.store.DeadReason;

/**
 * A consumer has no handler for a received message. The message stays a dead letter with
 * {@link DeadReason#NO_HANDLER}.
 */
public final class NoHandlerException extends PostriderException {

    public NoHandlerException(String message) {
        super(message);
    }
}
