package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.List;

/**
 * The status of one node that delivers topics. Immutable.
 *
 * @param worker the name of the node
 * @param version the version of the library; {@code unknown} if it does not run from a jar
 * @param topics all topics that the node delivers, ordered by name
 * @param until the time by which the node must announce itself again
 * @param alive whether that time is in the future
 */
public record NodeStatus(
        String worker, String version, List<TopicName> topics, Instant startedAt, Instant until, boolean alive) {

    public NodeStatus {
        topics = List.copyOf(topics);
    }
}
