package dev.postrider.inbox;

import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;

/**
 * Handles one message in a transaction. The implementation must be thread-safe: many threads call it at the same
 * time.
 */
@FunctionalInterface
public interface MessageHandler {

    /**
     * Writes the effects of the message through the unit of work. They commit together with the record that the
     * message was handled.
     *
     * @throws Exception any exception rolls back the transaction, and the message is retried later
     */
    void handle(Message message, UnitOfWork work) throws Exception;
}
