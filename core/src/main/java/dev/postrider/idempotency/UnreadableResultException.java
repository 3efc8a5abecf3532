package dev.postrider.idempotency;

import dev.postrider.error.StoreException;
import java.util.UUID;

/**
 * A command has ended, but its result cannot be read: it was changed, or stored by another codec, or encrypted with a key that this
 * node does not have. The command is not run again. The cause says what is wrong.
 */
public final class UnreadableResultException extends StoreException {

    private static final long serialVersionUID = 1;

    private final UUID reference;

    public UnreadableResultException(UUID reference, RuntimeException cause) {
        super("The command " + reference + " has ended, but its result cannot be read: " + cause.getMessage(), cause);
        this.reference = reference;
    }

    /** Of the command. */
    public UUID reference() {
        return reference;
    }
}
