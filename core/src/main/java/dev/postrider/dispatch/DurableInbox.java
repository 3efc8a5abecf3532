package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.inbox.MessageHandler;
import dev.postrider.store.InboxHandler;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The durable inbox of a consumer, as this node declares it: handlers by name, each with a topic of its own in which its messages wait
 * to be handled in the transaction that removes them. Immutable; begin with {@link #of}.
 */
public final class DurableInbox {

    private final List<Topic> topics;
    private final List<InboxHandler> handlers;

    private DurableInbox(List<Topic> topics, List<InboxHandler> handlers) {
        this.topics = List.copyOf(topics);
        this.handlers = List.copyOf(handlers);
    }

    /** @param consumer letters, digits, dashes and underscores; the same for ever, since it says who has had a message */
    public static Builder of(String consumer) {
        return new Builder(consumer);
    }

    /** One for each handler, and the consumer's own. */
    public List<Topic> topics() {
        return topics;
    }

    public List<InboxHandler> handlers() {
        return handlers;
    }

    /** Collects the handlers. Not thread-safe. */
    public static final class Builder {

        private static final int DEFAULT_LANES = 32;

        private record Declared(MessageHandler handler, Consumer<Topic.Builder> options) {}

        private final String consumer;
        private final Map<String, Declared> declared = new LinkedHashMap<>();
        private final List<InboxHandler> handlers = new ArrayList<>();
        private int lanes;

        private Builder(String consumer) {
            this.consumer = consumer;
            InboxHandler.consumerTopic(consumer);
        }

        /**
         * Declares a handler for messages of one type, {@value InboxHandler#ANY_TYPE} for all.
         *
         * @param name the same for ever: its messages wait under it, and nodes that do not know it leave them alone
         */
        public Builder handler(String name, String type, MessageHandler handler) {
            return handler(name, List.of(type), handler, topic -> {});
        }

        /** The same for several types, and with options of its own: attempts, delays, threads. */
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
         * Each handler gets messages with the same key one after another, in the order they were received. One without a key is by
         * itself.
         */
        public Builder ordered() {
            return lanes(DEFAULT_LANES);
        }

        /** The same, with the keys spread over so many lanes; fixed once registered. 0 for an unordered inbox. */
        public Builder lanes(int lanes) {
            this.lanes = lanes;
            return this;
        }

        public DurableInbox build() {
            List<Topic> topics = new ArrayList<>();
            topics.add(Topic.ofInbox(InboxHandler.consumerTopic(consumer))
                    .routes(consumer)
                    .permanentOn(InvalidConfigurationException.class::isInstance)
                    .build());
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
