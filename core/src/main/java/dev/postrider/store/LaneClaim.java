package dev.postrider.store;

/**
 * A message read from a lane. It is held by holding the lane: its lease is the lane's. Immutable.
 *
 * @param lane the number of the lane
 */
public record LaneClaim(Claim claim, int lane, Place place) {

    /** Where the message stood. */
    public enum Place {
        /** In the order of its lane. */
        IN_ORDER,
        /** In a held key: the first of it, whose time has come, or one behind it. */
        IN_HELD_KEY,
        /** Beside the order: it was to be delivered at a certain time. */
        BESIDE
    }
}
