package dev.postrider.idempotency;

import dev.postrider.error.StoreException;
import java.util.UUID;

/**
 * A command is completed or rejected, but its result cannot be read: the result was changed, stored by another codec,
 * or encrypted with a key that this node does not have. The command does not run again. The cause describes the
 * problem.
 */
public final class UnreadableResultException extends StoreException {

    private static final long serialVersionUID = 1;

    private final UUID reference;

    public UnreadableResultException(UUID reference, RuntimeException cause) {
        super("The command " + reference + " is completed, but its result is unreadable: " + cause.getMessage(), cause);
        this.reference = reference;
    }

    /** The reference of the command. */
    public UUID reference() {
        return reference;
    }
}
