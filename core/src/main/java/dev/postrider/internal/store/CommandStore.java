package dev.postrider.internal.store;

import dev.postrider.outbox.UnitOfWork;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

/**
 * Stores commands. Every change is one statement that is conditional on one owner and one fence. The returned value
 * says whether the condition was met. All times are those of the database. Thread-safe, also across nodes.
 *
 * <p>All methods throw {@link dev.postrider.error.StoreException} when the database fails. It is then unknown whether
 * the change was made.
 */
public interface CommandStore {

    /**
     * Inserts the row of the command if there is none, and returns the current row. The claim succeeded if the row
     * has the token of the claim. This also holds when an earlier answer of the database was lost.
     */
    CommandRecord claim(CommandClaim claim);

    /**
     * Makes the claim the owner of a command that failed, whose lease expired, or whose key expired. The fence is
     * raised. The change is made only if the row has the same owner and fence as {@code found}.
     *
     * @return the row; empty when another caller was faster, or the owner has renewed its lease
     */
    Optional<CommandRecord> take(CommandClaim claim, CommandRecord found);

    /** Finds the row of a command. */
    Optional<CommandRecord> find(CommandId id);

    /**
     * Completes the command. A command that became uncertain in the meantime is completed too, if it still has this
     * owner.
     */
    boolean complete(CommandOwner owner, CommandOutcome outcome);

    /**
     * Marks the command as failed, so that it can be run again. After {@code maxAttempts} attempts the command
     * becomes uncertain instead.
     *
     * @param maxAttempts 0 for no limit
     */
    boolean fail(CommandOwner owner, String error, int maxAttempts);

    /**
     * Marks a command as uncertain. The change is made only if its lease has expired and its owner is still the same.
     */
    boolean markUncertain(CommandRecord found);

    /**
     * Renews the leases of these owners, and returns the owners that have lost their command. A command whose row is
     * locked, because its outcome is being written, is neither renewed nor lost.
     */
    Set<CommandOwner> renew(Collection<CommandOwner> owners);

    /** Records that the command may have an effect in another system from now on. */
    boolean startEffect(CommandOwner owner, boolean uncertainIfLost);

    /** Saves the results of the steps of the command. */
    boolean saveSteps(CommandOwner owner, CommandRecord.Steps steps);

    /**
     * Returns the same operations for the transaction of the unit of work. The owner of the transaction commits it.
     */
    Joined within(UnitOfWork unit);

    /** Operations on commands in the transaction of a caller. Not thread-safe, like the transaction. */
    interface Joined {

        /**
         * Claims like {@link CommandStore#claim}, and waits at most this long for another transaction with the same
         * command.
         *
         * @return empty when the other transaction has not ended; nothing was changed and the transaction can
         *     continue
         */
        Optional<CommandRecord> claim(CommandClaim claim, Duration atMost);

        /** Does the same as {@link CommandStore#take}. */
        Optional<CommandRecord> take(CommandClaim claim, CommandRecord found);

        /** Does the same as {@link CommandStore#complete}. */
        boolean complete(CommandOwner owner, CommandOutcome outcome);
    }
}
