package dev.postrider.transport;

import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to deliver one message. Immutable.
 *
 * @param attempt the number of the attempt, 1 for the first
 * @param trace the trace context that goes to the destination: that of this attempt if a tracer follows it, otherwise the
 *     one that is stored with the message; null if there is none
 */
public record Delivery(
        Message message, int attempt, @Nullable TraceContext trace) {

    /** An attempt that no tracer follows. */
    public Delivery(Message message, int attempt) {
        this(message, attempt, message.trace());
    }

    /** Returns the key by which the destination can detect duplicates. It is the same on every attempt. */
    public String idempotencyKey() {
        return message.effectiveKey();
    }
}
