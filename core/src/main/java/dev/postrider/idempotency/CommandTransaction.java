package dev.postrider.idempotency;

import dev.postrider.outbox.UnitOfWork;
import java.util.UUID;

/**
 * The transaction of a command. Messages that are sent through it carry the command's reference as their correlation and causation,
 * unless they say otherwise. Use it from one thread, within the call that it was given to.
 */
public interface CommandTransaction extends UnitOfWork {

    /** What this command is known by to operators and to {@link CommandResult.Uncertain}; the same in every attempt. */
    UUID reference();

    /** Beginning with 1. */
    int attempt();

    /**
     * Whether this failure, or one that caused it, says that the database made this transaction give way to another one: a
     * deadlock, a serialization failure, a lock that was not granted in time. The work can then be run again as a whole.
     */
    boolean isConflict(Throwable failure);

    /** A key for a call to another system: the same for this step of this command in every attempt. */
    UUID downstreamKey(String step);
}
