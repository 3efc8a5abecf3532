package dev.postrider.inbox;

import dev.postrider.outbox.UnitOfWork;

/**
 * What a consumer does about a received message, in the transaction that marks it.
 *
 * @param <X> what it may throw besides unchecked exceptions
 */
@FunctionalInterface
public interface InboxWork<X extends Exception> {

    void run(UnitOfWork work) throws X;
}
