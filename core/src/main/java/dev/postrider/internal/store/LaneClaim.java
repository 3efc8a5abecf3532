package dev.postrider.internal.store;

import dev.postrider.store.Claim;

/**
 * A message that was read from an owned lane. Its lease is the lease of the lane. Immutable.
 *
 * @param lane the number of the lane
 */
public record LaneClaim(Claim claim, int lane, Place place) {

    /** The place of a message in its lane. */
    public enum Place {
        /** In the order of its lane. */
        IN_ORDER,
        /** In a blocked key: the head, which is due, or a message behind it. */
        IN_BLOCKED_KEY,
        /** Outside the order: the message was scheduled for a certain time. */
        OUT_OF_ORDER
    }
}
