package dev.postrider.internal.store;

import dev.postrider.encryption.PayloadCipher;
import dev.postrider.message.TopicName;
import dev.postrider.store.TableOptions;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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

    /**
     * The cipher of this topic; null for none. The topic of a handler has that of its consumer unless it declares its own: a process that
     * only receives for the consumer does not know the handlers.
     */
    public @Nullable PayloadCipher cipher(TopicName topic) {
        PayloadCipher own = topic(topic).cipher();
        int dot = topic.topic().indexOf('.');
        return own == null && topic.isOfInbox() && dot > 0
                ? cipherOfConsumer(topic.topic().substring(0, dot))
                : own;
    }

    /** The cipher of a consumer, which also makes the hashes of its marks; null for none. */
    public @Nullable PayloadCipher cipherOfConsumer(String consumer) {
        return topic(new TopicName(TopicName.INBOX_NAMESPACE, consumer)).cipher();
    }

    private TopicStorage topic(TopicName topic) {
        return topics.getOrDefault(topic, TopicStorage.DEFAULT);
    }
}
