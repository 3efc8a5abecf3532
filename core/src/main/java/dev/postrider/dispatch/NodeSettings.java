package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import dev.postrider.internal.trace.SafeTracing;
import dev.postrider.message.TopicName;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The topics that a node delivers, its options, its listener and its tracer. Immutable.
 *
 * @param events does not throw
 */
record NodeSettings(List<Topic> topics, DispatchOptions options, EventListener events, SafeTracing tracing) {

    NodeSettings {
        topics = List.copyOf(topics);
    }

    /** Settings without a tracer. */
    NodeSettings(List<Topic> topics, DispatchOptions options, EventListener events) {
        this(topics, options, events, SafeTracing.NONE);
    }

    Set<TopicName> topicNames() {
        return topics.stream().map(Topic::name).collect(Collectors.toSet());
    }
}
