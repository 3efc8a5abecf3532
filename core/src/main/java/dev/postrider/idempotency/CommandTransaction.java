package dev.postrider.idempotency;

import dev.postrider.outbox.UnitOfWork;
import java.util.UUID;

/**
 * The transaction of a command. Messages that are sent through it carry the reference of the command as correlation and
 * causation, unless the message sets its own. Use it from one thread, and only during the call that received it.
 */
public interface CommandTransaction extends UnitOfWork {

    /**
     * The public id of the command, for operators and for {@link CommandResult.Uncertain}; the same in every attempt.
     */
    UUID reference();

    /** The number of this attempt, starting with 1. */
    int attempt();

    /**
     * Whether this failure, or one of its causes, means that the database aborted this transaction in favour of
     * another: a deadlock, a serialization failure, or a lock timeout. The work can then run again as a whole.
     */
    boolean isConflict(Throwable failure);

    /** A key for a call to another system. It is the same for this step of this command in every attempt. */
    UUID downstreamKey(String step);
}
