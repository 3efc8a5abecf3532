package dev.postrider.internal.store;

import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import java.util.Map;

/**
 * How this node stores messages: the options of the tables, and what single topics declare. Immutable.
 *
 * @param topics what the declared topics have of their own; an undeclared topic has the options of the tables
 */
public record StorageOptions(TableOptions tables, Map<TopicName, TopicStorage> topics) {

    public StorageOptions {
        topics = Map.copyOf(topics);
    }

    /** Returns options without anything of single topics. */
    public static StorageOptions of(TableOptions tables) {
        return new StorageOptions(tables, Map.of());
    }

    /** Which part of a delivered message of this topic the archive keeps. */
    public TableOptions.Archive archive(TopicName topic) {
        TableOptions.Archive own = topic(topic).archive();
        return own == null ? tables.archive() : own;
    }

    /** The size in bytes above which a payload of this topic is written compressed; 0 for never. */
    public int compressPayloadsAbove(TopicName topic) {
        return topic(topic).compressPayloadsAbove();
    }

    private TopicStorage topic(TopicName topic) {
        return topics.getOrDefault(topic, TopicStorage.DEFAULT);
    }
}
