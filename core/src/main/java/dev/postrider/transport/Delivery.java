package dev.postrider.transport;

import dev.postrider.message.Message;

/**
 * One attempt to deliver one message. Immutable.
 *
 * @param attempt 1 for the first attempt
 */
public record Delivery(Message message, int attempt) {

    /** The key under which the destination should take the message once. The same on every attempt. */
    public String idempotencyKey() {
        return message.effectiveKey();
    }
}
