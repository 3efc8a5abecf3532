package dev.postrider.trace;

import dev.postrider.internal.ErrorText;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How a step ended. Immutable. The error text is one line without control characters, and text that looks like a password or
 * token is redacted. The cause is the exception of a handler or a transport, unchanged: its messages may contain secrets.
 *
 * @param outcome one of a small, closed set: for a message {@code delivered}, {@code retry}, {@code buried}, {@code parked},
 *     {@code expired}, {@code released}, {@code lost} or {@code blocked}; for a received message {@code processed}, {@code duplicate},
 *     {@code collision}, {@code too_old} or {@code failed}; for a command {@code completed}, {@code rejected},
 *     {@code replayed}, {@code in_progress}, {@code mismatch}, {@code uncertain} or {@code failed}
 * @param reference the reference of a command; null if it is not known, and for messages
 * @param error null if the step did not fail
 * @param cause null if there was no exception
 */
public record TracedEnd(
        String outcome,
        @Nullable UUID reference,
        @Nullable String error,
        @Nullable Throwable cause) {

    public TracedEnd {
        error = error == null ? null : ErrorText.clean(error);
    }

    /** Returns the end of a step that did not fail. */
    public static TracedEnd of(String outcome) {
        return new TracedEnd(outcome, null, null, null);
    }

    /** Returns the end of a step that threw. */
    public static TracedEnd failed(@Nullable UUID reference, Throwable cause) {
        return new TracedEnd("failed", reference, ErrorText.of(cause), cause);
    }

    /** Returns whether the step failed. */
    public boolean isFailed() {
        return error != null;
    }

    @Override
    public String toString() {
        return "TracedEnd[outcome=" + outcome + ", reference=" + reference + ", error=" + error + ", cause="
                + (cause == null ? "none" : cause.getClass().getName()) + "]";
    }
}
