package dev.postrider.inbox;

import dev.postrider.outbox.UnitOfWork;

/**
 * The code that handles a received message, in the transaction that marks it. It may run more than once after a
 * conflict.
 *
 * @param <X> the checked exception that the code may throw
 */
@FunctionalInterface
public interface InboxWork<X extends Exception> {

    /** Handles the message. An exception rolls back all changes made through the unit of work. */
    void run(UnitOfWork work) throws X;
}
