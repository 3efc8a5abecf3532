package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.List;

/**
 * A node that delivers topics. Immutable.
 *
 * @param version the version of the library, or {@code unknown} if it does not run from a jar
 * @param topics all topics that it delivers, by name
 * @param until by when it must have been heard of again
 * @param alive whether that is still to come
 */
public record NodeStatus(
        String worker, String version, List<TopicName> topics, Instant startedAt, Instant until, boolean alive) {

    public NodeStatus {
        topics = List.copyOf(topics);
    }
}
