package dev.postrider.outbox;

import dev.postrider.message.Message;
import java.sql.Connection;
import java.util.Collection;

/**
 * A transaction in progress, together with the messages to be written at its end. Use it from one thread, within the call that
 * it was given to.
 */
public interface UnitOfWork {

    /** The transaction's connection. Do not commit, roll back or close it: the unit of work does. */
    Connection connection();

    /**
     * Adds a message, to be written just before commit together with all others, in one statement and in this order. By then
     * every row the transaction changes is locked, so of two units of work that change the same rows the messages come in the
     * order in which the changes do.
     */
    void stage(Message message);

    /** Adds all of them, or none if one is not acceptable. */
    void stage(Collection<Message> messages);

    /** Writes at once instead, to learn now whether a key is a duplicate. */
    Outbox outbox();
}
