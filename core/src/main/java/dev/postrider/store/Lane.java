package dev.postrider.store;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.Set;

/**
 * A lane of an ordered topic, held by a node: the right to deliver what travels in it, for a while and again and again. Immutable.
 *
 * @param number from 0
 * @param lease its token was made for this tenure alone, and every outcome is written under it
 * @param heldKeys the keys whose first message waits for its time or for an operator, as it was when the lane was taken
 */
public record Lane(TopicName topic, int number, Lease lease, Set<OrderingKey> heldKeys) {

    public Lane {
        heldKeys = Set.copyOf(heldKeys);
    }

    /** What a node asks for. */
    public record Request(TopicName topic, String worker, int most, Supply supply, Duration lease) {}

    /** Which lanes may be taken. */
    public enum Supply {
        /** Those that are free, and those whose holder was lost. */
        FREE,
        /** Of these, the ones that nobody has taken for a whole lease: a node may take them beyond its share. */
        LEFT_OVER
    }

    /**
     * What came of a renewal. A lane that is in neither set is still held, but another session has locked its row at this moment: its lease
     * was not prolonged, and the renewal is to be tried again soon.
     *
     * @param renewed the lanes whose leases were prolonged
     * @param lost the lanes that another node holds, or nobody
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
