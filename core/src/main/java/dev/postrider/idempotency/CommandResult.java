package dev.postrider.idempotency;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The result of a call that runs a command. Immutable. */
public sealed interface CommandResult<R> {

    /**
     * Calls the method for the kind of this result, and returns its value. For Java 17, where {@code switch} does not
     * match sealed types.
     */
    <T> T fold(Cases<R, T> cases);

    /**
     * One method for each kind of result.
     *
     * @param <R> the value of the command
     * @param <T> the value of {@link #fold}
     */
    interface Cases<R, T> {

        T completed(Completed<R> result);

        T rejected(Rejected<R> result);

        T inProgress(InProgress<R> result);

        T mismatch(Mismatch<R> result);

        T uncertain(Uncertain<R> result);

        T resultOmitted(ResultOmitted<R> result);
    }

    /**
     * The command is completed, by this call or by an earlier one.
     *
     * @param replayed whether an earlier call completed it
     * @param recorded whether the outcome is stored; false only for a leased command whose outcome could not be
     *     written: its work is done, and a retry may not find the outcome
     */
    record Completed<R>(UUID reference, @Nullable R value, boolean replayed, boolean recorded)
            implements CommandResult<R> {

        /** A completed command whose outcome is stored. */
        public Completed(UUID reference, @Nullable R value, boolean replayed) {
            this(reference, value, replayed, true);
        }

        @Override
        public <T> T fold(Cases<R, T> cases) {
            return cases.completed(this);
        }
    }

    /**
     * The command is rejected, by this call or by an earlier one. The rejection is final.
     *
     * @param value the value of {@link CommandRejectedException#result()}; null if there was none
     * @param replayed whether an earlier call rejected it
     * @param expired whether the value is past its retention; the rejection stays valid
     * @param recorded whether the outcome is stored; false only for a leased command whose outcome could not be written
     */
    record Rejected<R>(
            UUID reference, String reason, @Nullable R value, boolean replayed, boolean expired, boolean recorded)
            implements CommandResult<R> {

        /** A rejected command whose outcome is stored and whose value, if any, has not expired. */
        public Rejected(UUID reference, String reason, @Nullable R value, boolean replayed) {
            this(reference, reason, value, replayed, false, true);
        }

        @Override
        public <T> T fold(Cases<R, T> cases) {
            return cases.rejected(this);
        }
    }

    /**
     * Another caller is running the command.
     *
     * @param reference null when the row could not be read, for example because the transaction of its owner has not
     *     ended
     * @param retryAfter the recommended wait before a retry
     */
    record InProgress<R>(@Nullable UUID reference, Duration retryAfter) implements CommandResult<R> {
        @Override
        public <T> T fold(Cases<R, T> cases) {
            return cases.inProgress(this);
        }
    }

    /**
     * The key was used for a different request. The work did not run, and the row of the first request is unchanged.
     */
    record Mismatch<R>() implements CommandResult<R> {
        @Override
        public <T> T fold(Cases<R, T> cases) {
            return cases.mismatch(this);
        }
    }

    /**
     * The owner of the command failed or was lost after the external effect may have happened. A probe or an operator
     * resolves the command. The work does not run again.
     */
    record Uncertain<R>(UUID reference) implements CommandResult<R> {
        @Override
        public <T> T fold(Cases<R, T> cases) {
            return cases.uncertain(this);
        }
    }

    /**
     * The command is completed, but its result is not stored: it was too large, or its retention ended. The work does
     * not run again.
     */
    record ResultOmitted<R>(UUID reference, boolean wasTooLarge) implements CommandResult<R> {
        @Override
        public <T> T fold(Cases<R, T> cases) {
            return cases.resultOmitted(this);
        }
    }

    /**
     * The value of a completed command.
     *
     * @throws IllegalStateException when the command is not completed; the message contains its result
     */
    default @Nullable R orElseThrow() {
        if (this instanceof Completed<R> completed) {
            return completed.value();
        }
        throw new IllegalStateException("The command has no value to return: " + this);
    }

    default boolean isCompleted() {
        return this instanceof Completed;
    }

    /** Whether an earlier call completed or rejected the command. */
    default boolean isReplayed() {
        return (this instanceof Completed<R> completed && completed.replayed())
                || (this instanceof Rejected<R> rejected && rejected.replayed());
    }
}
