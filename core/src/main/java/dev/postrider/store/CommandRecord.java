package dev.postrider.store;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A command's row as it was found. Immutable.
 *
 * @param attempts how often it was claimed
 * @param uncertainIfLost whether nobody may take it over when the lease has run out
 * @param outcome how it ended, if it did
 * @param steps what its steps have left, as {@link CommandStore#saveSteps} was given it
 * @param leaseLeft how long the lease lasts, by the database's clock; zero or less when it is over
 * @param keyLeft how long the key lasts
 * @param resultLeft how long the result lasts; null when there is none, or none any more
 * @param readAt when it was read, by the database's clock
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

    /** Where a command can be. */
    public enum State {
        IN_PROGRESS,
        COMPLETED,
        FAILED,
        UNCERTAIN
    }

    /** @param reason why it was rejected */
    public record Ended(boolean rejected, CommandOutcome.StoredResult result, String reason) {}

    /** The memory of the steps; opaque here. The bytes are not to be changed. */
    public static final class Steps {

        private final byte[] bytes;

        public Steps(byte[] bytes) {
            this.bytes = bytes;
        }

        public byte[] bytes() {
            return bytes;
        }
    }

    public boolean isLeased() {
        return state == State.IN_PROGRESS && isPositive(leaseLeft);
    }

    /** Whether the key is free again: its time is over, nobody is at it, and nobody must say first what became of it. */
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
