package dev.postrider.internal.store;

import dev.postrider.message.TopicName;
import dev.postrider.store.Lease;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A lane of an ordered topic, owned by a node. The owner may deliver the messages of the lane as long as it renews
 * the lease. Immutable.
 *
 * @param number the number of the lane, starting at 0
 * @param lease its token is made for this ownership alone. Every outcome is written under it
 * @param blockedKeys the keys that were blocked when the lane was acquired
 */
public record Lane(TopicName topic, int number, Lease lease, Set<OrderingKey> blockedKeys) {

    /** How many messages of a lane may be in flight on a node. If the node is lost, each of them may be the cause. */
    public static final int MOST_IN_FLIGHT = 256;

    public Lane {
        blockedKeys = Collections.unmodifiableSet(new LinkedHashSet<>(blockedKeys));
    }

    /**
     * The parameters for acquiring lanes.
     *
     * @param most the largest number of lanes to acquire
     */
    public record Request(TopicName topic, String worker, int most, Supply supply, Duration lease) {}

    /** The lanes that a node may acquire. */
    public enum Supply {
        /** Lanes that are free, and lanes of lost nodes. */
        FREE,
        /**
         * Of these, the lanes that no node has acquired for a whole lease. A node may acquire them beyond its share.
         */
        UNCLAIMED
    }

    /**
     * The result of a renewal. A lane that is in neither set is still owned, but another session has locked its row.
     * Its lease was not renewed, and the renewal must be retried soon.
     *
     * @param renewed the lanes whose leases were renewed
     * @param lost the lanes that are free or have another owner
     */
    public record Renewal(Set<Lane> renewed, Set<Lane> lost) {

        public Renewal {
            renewed = Set.copyOf(renewed);
            lost = Set.copyOf(lost);
        }
    }

    @Override
    public String toString() {
        return topic + "#" + number;
    }
}
