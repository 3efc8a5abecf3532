package dev.postrider.idempotency;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Asks the other system what became of a command whose owner died. Thread-safe. */
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
