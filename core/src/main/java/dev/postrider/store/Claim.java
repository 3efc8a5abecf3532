package dev.postrider.store;

import dev.postrider.message.Message;

/**
 * A message that is claimed under a lease. Immutable.
 *
 * @param seq the number of the row in the database
 * @param attempt the number of this delivery attempt, 1 for the first
 * @param crashes the number of earlier attempts that ended with the loss of the node instead of an outcome
 * @param lease the lease under which the outcome must be written
 */
public record Claim(long seq, Message message, int attempt, int crashes, Lease lease) {

    @Override
    public String toString() {
        return "Claim[" + message.id() + ", attempt " + attempt + "]";
    }
}
