package dev.postrider.store;

import dev.postrider.outbox.UnitOfWork;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;

/**
 * The rows of commands. Every change is one statement that holds for one owner and one fence; its answer says whether it was met.
 * All times are the database's. Thread-safe, also over many nodes. Throws {@link dev.postrider.error.StoreException} when the
 * database fails; then it is not known whether the change was made.
 */
public interface CommandStore {

    /**
     * Writes the row if there is none; answers the row that is there now. It is the claim's own when its token is in it, also when
     * an earlier answer was lost.
     */
    CommandRecord claim(CommandClaim claim);

    /**
     * Makes the claim the owner of a row that was found failed, lost or over: with the next fence, and only if nobody did so since.
     *
     * @return the row; empty when somebody was quicker, or its owner lives after all
     */
    Optional<CommandRecord> take(CommandClaim claim, CommandRecord found);

    /** The row, if there is one. */
    Optional<CommandRecord> find(CommandId id);

    /** Ends the command. Also one that was called uncertain meanwhile, if nobody else has it: its owner knows. */
    boolean complete(CommandOwner owner, CommandOutcome outcome);

    /**
     * Gives the command back, to be tried again; or calls it uncertain after so many attempts.
     *
     * @param maxAttempts 0 for no limit
     */
    boolean fail(CommandOwner owner, String error, int maxAttempts);

    /** Calls a command uncertain whose lease has run out; only if nobody has it since. */
    boolean doubt(CommandRecord found);

    /** Begins the leases of these anew; answers those that are lost. One that is just being ended is neither renewed nor lost. */
    Set<CommandOwner> renew(Collection<CommandOwner> owners);

    /** Notes that something may have happened elsewhere from now on. */
    boolean startEffect(CommandOwner owner, boolean uncertainIfLost);

    /** Keeps what the steps of the command have left. */
    boolean saveSteps(CommandOwner owner, CommandRecord.Steps steps);

    /** The same statements in the transaction of the unit of work, which whoever owns it commits. */
    Joined within(UnitOfWork unit);

    /** Commands in somebody's transaction. Not thread-safe, as the transaction is not. */
    interface Joined {

        /**
         * The same as {@link CommandStore#claim}, waiting only so long for another transaction with the same command.
         *
         * @return empty when that one has not ended; then nothing was changed and the transaction can go on
         */
        Optional<CommandRecord> claim(CommandClaim claim, Duration atMost);

        /** The same as {@link CommandStore#take}. */
        Optional<CommandRecord> take(CommandClaim claim, CommandRecord found);

        /** The same as {@link CommandStore#complete}. */
        boolean complete(CommandOwner owner, CommandOutcome outcome);
    }
}
