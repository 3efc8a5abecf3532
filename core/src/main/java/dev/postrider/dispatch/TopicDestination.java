package dev.postrider.dispatch;

import dev.postrider.inbox.MessageHandler;
import dev.postrider.internal.store.HandlingStore;
import dev.postrider.transport.DeliveryHandler;
import dev.postrider.transport.Transport;

/** The destination of a topic's messages on this node. Immutable. */
sealed interface TopicDestination {

    /** This node only writes to the topic. */
    record None() implements TopicDestination {}

    /** A transport delivers the messages. */
    record ByTransport(Transport transport) implements TopicDestination {}

    /** A handler of the application delivers the messages, outside of any transaction. */
    record ByHandler(DeliveryHandler handler) implements TopicDestination {}

    /** The message is processed in the transaction that removes it. */
    sealed interface InTransaction extends TopicDestination {

        HandlingStore.Handler handler(HandlingStore store);
    }

    /** A handler of the application processes the messages. */
    record Processing(MessageHandler handler) implements InTransaction {

        @Override
        public HandlingStore.Handler handler(HandlingStore store) {
            return (claim, message, work) -> handler.handle(message, work);
        }
    }

    /** The messages go into the durable inbox of a consumer. */
    record IntoInbox(String consumer) implements InTransaction {

        @Override
        public HandlingStore.Handler handler(HandlingStore store) {
            return store.intoInbox(consumer);
        }
    }

    /** The messages of the consumer's own topic go to its handlers. */
    record ToInboxHandlers(String consumer) implements InTransaction {

        @Override
        public HandlingStore.Handler handler(HandlingStore store) {
            return store.router(consumer);
        }
    }
}
