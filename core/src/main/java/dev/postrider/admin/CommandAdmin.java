package dev.postrider.admin;

import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The operators' interface to commands that are uncertain or stuck. Every change is recorded in the audit table with
 * the operator's name. Thread-safe. All methods throw {@link dev.postrider.error.StoreException} when the database
 * fails. Lists throw {@link dev.postrider.error.InvalidConfigurationException} when the limit is not between 1 and
 * 1000.
 */
public interface CommandAdmin {

    /** The decision of an operator about an uncertain or stuck command. */
    enum Resolution {
        /** The command took effect. It is not run again. Later calls are answered that the result is not kept. */
        COMPLETED,
        /** The command did not take effect. The next call runs it. */
        FAILED,
        /** The command is deleted. Its key can be used as a new key. */
        RELEASED
    }

    /** The result of {@link #resolve}. */
    enum Resolved {
        /** The command was changed as requested. */
        DONE,
        /** The command does not exist. */
        NOT_FOUND,
        /** The command has a valid lease, or has already ended. */
        NOT_OPEN
    }

    /** Returns the uncertain commands, the oldest first. */
    List<StoredCommand> uncertain(int limit);

    /**
     * Returns the commands in progress whose lease has expired, the oldest first. The next call takes over most of
     * them.
     */
    List<StoredCommand> stuck(int limit);

    /** Finds a command by its reference. */
    Optional<StoredCommand> find(UUID reference);

    /**
     * Resolves a command that is uncertain or stuck. An owner that is still running the command can no longer write
     * its outcome.
     *
     * @param change names the operator and the reason, for the audit. A dry run is refused
     */
    Resolved resolve(UUID reference, Resolution resolution, Change change);

    /**
     * Calls {@link #resolve(UUID, Resolution, Change)} without a reason.
     *
     * @param operator the name of the operator, for the audit table; 1 to 255 readable characters
     * @throws dev.postrider.error.InvalidConfigurationException when the operator's name is not valid, even if the
     *     call would have changed nothing
     */
    default Resolved resolve(UUID reference, Resolution resolution, String operator) {
        return resolve(reference, resolution, Change.by(operator));
    }
}
