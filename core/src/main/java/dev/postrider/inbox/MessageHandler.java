package dev.postrider.inbox;

import dev.postrider.message.Message;
import dev.postrider.outbox.UnitOfWork;

/** Handles a message in a transaction of its own. Called by many threads at once. */
@FunctionalInterface
public interface MessageHandler {

    /**
     * Writes what follows from the message through the unit of work; all of it, and that the message was handled, commits together.
     *
     * @throws Exception anything: all of it is rolled back, and the message is tried again later
     */
    void handle(Message message, UnitOfWork work) throws Exception;
}
