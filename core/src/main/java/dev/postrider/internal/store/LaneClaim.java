package dev.postrider.internal.store;

import dev.postrider.store.Claim;
import org.jspecify.annotations.Nullable;

/**
 * A message that was read from an owned lane. Its lease is the lease of the lane. Immutable.
 *
 * @param lane the number of the lane
 * @param unreadable why the row cannot be read; the message has then only the id, the topic, the tenant and the ordering key. Null for a
 *     message that can be delivered
 */
public record LaneClaim(
        Claim claim, int lane, Place place, @Nullable String unreadable) {

    /** Creates the claim of a message that can be delivered. */
    public LaneClaim(Claim claim, int lane, Place place) {
        this(claim, lane, place, null);
    }

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
