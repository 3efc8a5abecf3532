package dev.postrider.trace;

import dev.postrider.message.Message;
import dev.postrider.message.TopicName;

/** What a span is about. Immutable. */
public sealed interface TracedStep {

    /**
     * One attempt to deliver a message by a transport or a callback, or into an inbox of the same database.
     *
     * @param attempt the number of the attempt, 1 for the first
     */
    record Deliver(Message message, int attempt) implements TracedStep {}

    /**
     * One attempt to process a message in the transaction that removes it.
     *
     * @param message the message as the handler gets it
     * @param topic the topic of the handler; in a durable inbox it is not the topic of the message
     * @param attempt the number of the attempt, 1 for the first
     */
    record Handle(Message message, TopicName topic, int attempt) implements TracedStep {}

    /** A call of the application that processes a received message in the inbox of a consumer. */
    record Receive(Message message, String consumer) implements TracedStep {}

    /** A call of the application that runs a command. The key, the caller and the tenant of the command are not known here. */
    record Execute(String operation) implements TracedStep {}
}
