package dev.postrider.transport;

import dev.postrider.message.Message;

/**
 * One attempt to deliver one message. Immutable.
 *
 * @param attempt the number of the attempt, 1 for the first
 */
public record Delivery(Message message, int attempt) {

    /** Returns the key by which the destination can detect duplicates. It is the same on every attempt. */
    public String idempotencyKey() {
        return message.effectiveKey();
    }
}
