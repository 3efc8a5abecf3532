package dev.postrider.admin;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * For operators: commands that need one. Every change is recorded with the name of who made it. Thread-safe. Throws
 * {@link dev.postrider.error.StoreException} when the database fails.
 */
public interface CommandAdmin {

    /** What an operator knows of a command whose outcome nobody else does. */
    enum Resolution {
        /** It happened. It is not run again, and retries are told that its result is not kept. */
        COMPLETED,
        /** It did not happen: the next retry runs it. */
        FAILED,
        /** As if it had never been asked for: its key is new. */
        RELEASED
    }

    /** What came of it. */
    enum Resolved {
        DONE,
        /** There is no such command. */
        NOT_FOUND,
        /** Its owner lives, or it has ended. */
        NOT_OPEN
    }

    /** Those of unknown outcome, the oldest first. */
    List<StoredCommand> uncertain(int limit);

    /** Those whose owner is silent for longer than its lease, the oldest first; most are taken over by the next retry. */
    List<StoredCommand> stuck(int limit);

    Optional<StoredCommand> find(UUID reference);

    /**
     * Ends the uncertainty about a command that is uncertain or stuck. Whoever may still be at it cannot write its end any more.
     *
     * @param operator who decides, for the audit; never blank
     * @throws dev.postrider.error.InvalidConfigurationException when the operator is not named
     */
    Resolved resolve(UUID reference, Resolution resolution, String operator);
}
