package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The topics that a node delivers, its options and its listener. Immutable.
 *
 * @param events does not throw
 */
record NodeSettings(List<Topic> topics, DispatchOptions options, EventListener events) {

    NodeSettings {
        topics = List.copyOf(topics);
    }

    Set<TopicName> topicNames() {
        return topics.stream().map(Topic::name).collect(Collectors.toSet());
    }
}
