package dev.postrider.admin;

import dev.postrider.message.TopicName;
import java.time.Instant;
import java.util.List;

/**
 * A node that delivers ordered topics. Immutable.
 *
 * @param topics the ordered topics that it delivers
 * @param until by when it must have been heard of again
 * @param alive whether that is still to come
 */
public record NodeStatus(
        String worker, String version, List<TopicName> topics, Instant startedAt, Instant until, boolean alive) {

    public NodeStatus {
        topics = List.copyOf(topics);
    }
}
