package dev.postrider.idempotency;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Asks the other system what became of a command whose owner failed or died. Called on a thread of its own, for one command once at a
 * time on each node. A caller waits two seconds for the answer, or as long as it waits for results; then the command counts as in
 * progress, and the answer is written when it comes. Set a time limit all the same. Thread-safe.
 */
@FunctionalInterface
public interface OutcomeProbe<R> {

    /** What is known of it. */
    enum Kind {
        /** It happened: this is its result. */
        HAPPENED,
        /** It did not happen, and will not: it may run again. */
        DID_NOT_HAPPEN,
        /** Nobody knows yet. */
        UNKNOWN
    }

    /** @param result of a command that happened */
    record Finding<R>(Kind kind, @Nullable R result) {}

    Finding<R> ask(UUID reference);
}
