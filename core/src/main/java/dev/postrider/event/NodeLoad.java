package dev.postrider.event;

import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.List;

/**
 * What one node is doing, as it sees it itself. Immutable.
 *
 * @param node the name of the node
 * @param inFlight messages in flight on the node
 * @param clockSkew how far the clock of the node is ahead of that of the database, negative if it is behind; zero if the
 *     difference is within the accuracy of the measurement
 * @param schemaProblem why this version of the library does not fit the tables; empty if it does
 * @param topics the topics that the node delivers
 */
public record NodeLoad(String node, int inFlight, Duration clockSkew, String schemaProblem, List<TopicLoad> topics) {

    /** The states of a circuit breaker. */
    public enum Circuit {
        CLOSED,
        HALF_OPEN,
        OPEN
    }

    /**
     * One topic on the node.
     *
     * @param slotsTaken the slots that deliveries of the topic have taken
     * @param slots the number of slots that the topic can have
     * @param lanesOwned the lanes that the node owns; zero for an unordered topic
     * @param circuit the state of the circuit breaker of the topic on this node
     */
    public record TopicLoad(TopicName topic, int slotsTaken, int slots, int lanesOwned, Circuit circuit) {}

    public NodeLoad {
        topics = List.copyOf(topics);
    }
}
