package dev.postrider.idempotency;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What became of a command. Immutable. */
public sealed interface CommandResult<R> {

    /**
     * It is done, now or by an earlier call.
     *
     * @param replayed whether an earlier call did it
     * @param recorded whether the database knows; false only for a leased command whose end could not be written: it is done, and
     *     a retry may not learn that
     */
    record Completed<R>(UUID reference, @Nullable R value, boolean replayed, boolean recorded)
            implements CommandResult<R> {

        /** One that is recorded. */
        public Completed(UUID reference, @Nullable R value, boolean replayed) {
            this(reference, value, replayed, true);
        }
    }

    /**
     * Its answer is no, now and always.
     *
     * @param value what {@link CommandRejectedException#result()} was, if anything
     * @param replayed whether an earlier call said so
     * @param expired whether there was a value that is past its time; the answer is still no
     * @param recorded whether the database knows; false only for a leased command whose end could not be written
     */
    record Rejected<R>(
            UUID reference, String reason, @Nullable R value, boolean replayed, boolean expired, boolean recorded)
            implements CommandResult<R> {

        /** One that is recorded, and whose value, if any, is there. */
        public Rejected(UUID reference, String reason, @Nullable R value, boolean replayed) {
            this(reference, reason, value, replayed, false, true);
        }
    }

    /**
     * Somebody is at it.
     *
     * @param reference null when it is in a transaction that has not ended, which nobody can look into
     * @param retryAfter when it makes sense to ask again
     */
    record InProgress<R>(@Nullable UUID reference, Duration retryAfter) implements CommandResult<R> {}

    /** The key was used for another request; nothing was run, and the record of the first is untouched. */
    record Mismatch<R>() implements CommandResult<R> {}

    /** Its owner failed or died after it may have happened elsewhere: a probe or an operator must say. It is not run again. */
    record Uncertain<R>(UUID reference) implements CommandResult<R> {}

    /** It was done, but its result is not kept: too large, or past its time. It is not run again. */
    record Forgotten<R>(UUID reference, boolean wasTooLarge) implements CommandResult<R> {}

    /**
     * The value of a completed command.
     *
     * @throws IllegalStateException when it is anything but completed; the message says what
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

    /** Whether an earlier call did the work. */
    default boolean isReplayed() {
        return (this instanceof Completed<R> completed && completed.replayed())
                || (this instanceof Rejected<R> rejected && rejected.replayed());
    }
}
