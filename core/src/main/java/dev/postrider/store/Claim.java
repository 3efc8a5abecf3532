package dev.postrider.store;

import dev.postrider.message.Message;

/**
 * A message held under a lease. Immutable.
 *
 * @param seq the row's number in the database
 * @param attempt which delivery attempt this is, 1 for the first
 * @param crashes how many of the earlier attempts ended with the worker lost rather than with an answer
 */
public record Claim(long seq, Message message, int attempt, int crashes, Lease lease) {

    @Override
    public String toString() {
        return "Claim[" + message.id() + ", attempt " + attempt + "]";
    }
}
