package dev.postrider.internal.store;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The row of a command, as it was read. Immutable.
 *
 * @param attempts the number of claims of this command
 * @param uncertainIfLost whether the command becomes uncertain, instead of being taken over, when its lease expires
 * @param outcome the outcome; null before the command ended
 * @param steps the saved results of its steps, as passed to {@link CommandStore#saveSteps}
 * @param leaseLeft the remaining time of the lease, by the clock of the database; zero or less when it has expired
 * @param keyLeft the remaining time of the key
 * @param resultLeft the remaining time of the result; null when no result is stored
 * @param readAt when the row was read, by the clock of the database
 */
public record CommandRecord(
        CommandOwner owner,
        UUID reference,
        State state,
        CommandPrint print,
        int attempts,
        boolean uncertainIfLost,
        @Nullable Ended outcome,
        @Nullable Steps steps,
        Duration leaseLeft,
        Duration keyLeft,
        @Nullable Duration resultLeft,
        Instant readAt) {

    /** The states of a command. */
    public enum State {
        IN_PROGRESS,
        COMPLETED,
        FAILED,
        UNCERTAIN
    }

    /**
     * The stored outcome of a command.
     *
     * @param reason why the command was rejected
     */
    public record Ended(boolean rejected, CommandOutcome.StoredResult result, String reason) {}

    /**
     * The saved results of the steps of a command. The store does not interpret the bytes. The array must not be
     * changed.
     */
    public static final class Steps {

        private final byte[] bytes;

        /** Creates the saved results. The array is not copied. */
        public Steps(byte[] bytes) {
            this.bytes = bytes;
        }

        /** Returns the bytes. The array is not a copy. */
        public byte[] bytes() {
            return bytes;
        }
    }

    /** Returns whether the command is in progress under a valid lease. */
    public boolean isLeased() {
        return state == State.IN_PROGRESS && isPositive(leaseLeft);
    }

    /**
     * Returns whether the key can be used for a new command: its time has ended, no owner has a valid lease, and the
     * outcome is not uncertain.
     */
    public boolean isOver() {
        return !isPositive(keyLeft)
                && !isLeased()
                && state != State.UNCERTAIN
                && !(state == State.IN_PROGRESS && uncertainIfLost);
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }
}
