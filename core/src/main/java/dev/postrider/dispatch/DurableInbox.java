package dev.postrider.dispatch;

import dev.postrider.encryption.PayloadCipher;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.internal.Internal;
import dev.postrider.internal.store.InboxHandler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The durable inbox of a consumer, as this node declares it: handlers by name. Each handler has its own topic, and
 * handles the messages of that topic in the transaction that removes them. Immutable; start with {@link #of}.
 */
public final class DurableInbox {

    private final List<Topic> topics;
    private final List<InboxHandler> handlers;

    private DurableInbox(List<Topic> topics, List<InboxHandler> handlers) {
        this.topics = List.copyOf(topics);
        this.handlers = List.copyOf(handlers);
    }

    /**
     * @param consumer letters, digits, dashes and underscores; never change it, because the marks of received messages
     *     carry it
     */
    public static Builder of(String consumer) {
        return new Builder(consumer);
    }

    /** The topics of the handlers, and the consumer's own topic. */
    public List<Topic> topics() {
        return topics;
    }

    @Internal
    public List<InboxHandler> handlers() {
        return handlers;
    }

    /** Collects the handlers. Not thread-safe. */
    public static final class Builder {

        private record Declared(MessageHandler handler, Consumer<Topic.Builder> options) {}

        private final String consumer;
        private final Map<String, Declared> declared = new LinkedHashMap<>();
        private final List<InboxHandler> handlers = new ArrayList<>();
        private int lanes;
        private @Nullable PayloadCipher cipher;

        private Builder(String consumer) {
            this.consumer = consumer;
            InboxHandler.consumerTopic(consumer);
        }

        /**
         * Declares a handler for messages of one type, {@value InboxHandler#ANY_TYPE} for all.
         *
         * @param name never change it: messages are stored under it, and nodes that do not declare it do not deliver
         *     them
         */
        public Builder handler(String name, String type, MessageHandler handler) {
            return handler(name, List.of(type), handler, topic -> {});
        }

        /** Declares a handler for several types, with options for its topic: attempts, delays, threads. */
        public Builder handler(
                String name, Collection<String> types, MessageHandler handler, Consumer<Topic.Builder> options) {
            if (declared.put(name, new Declared(handler, options)) != null) {
                throw new InvalidConfigurationException(
                        "inbox." + consumer + "." + name, "is declared twice: keep one, which may take several types");
            }
            if (types.isEmpty()) {
                throw new InvalidConfigurationException(
                        "inbox." + consumer + "." + name,
                        "takes no type: name one, or '" + InboxHandler.ANY_TYPE + "'");
            }
            types.forEach(type -> handlers.add(new InboxHandler(consumer, name, type)));
            return this;
        }

        /**
         * Passes messages with the same key to each handler one after another, in the order they were received. A
         * message without a key is independent of all others.
         */
        public Builder ordered() {
            return lanes(Topic.Builder.DEFAULT_LANES);
        }

        /** The same as {@link #ordered}, with this number of lanes; fixed once registered. 0 for an unordered inbox. */
        public Builder lanes(int lanes) {
            this.lanes = lanes;
            return this;
        }

        /**
         * Encrypts the payloads that the consumer receives while they wait for its handlers, and those of its dead letters. A
         * process that only receives for the consumer declares it too, without handlers.
         */
        public Builder encryptPayloads(PayloadCipher cipher) {
            this.cipher = cipher;
            return this;
        }

        public DurableInbox build() {
            List<Topic> topics = new ArrayList<>();
            Topic.Builder own =
                    Topic.ofInbox(InboxHandler.consumerTopic(consumer)).routes(consumer);
            topics.add((cipher == null ? own : own.encryptPayloads(cipher)).build());
            declared.forEach((name, handler) -> {
                Topic.Builder topic = Topic.ofInbox(InboxHandler.topic(consumer, name))
                        .process(handler.handler())
                        .lanes(lanes);
                handler.options().accept(topic);
                topics.add(topic.build());
            });
            return new DurableInbox(topics, handlers);
        }
    }
}
