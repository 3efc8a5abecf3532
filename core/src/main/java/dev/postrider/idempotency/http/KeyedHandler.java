package dev.postrider.idempotency.http;

import dev.postrider.idempotency.CommandTransaction;

/** Handles a request with a key in the transaction of its command. Implementations are thread-safe. */
@FunctionalInterface
public interface KeyedHandler<X extends Exception> {

    /**
     * Handles the request. May be called again for the same request if the database aborted its transaction in favour
     * of another.
     *
     * @throws X the transaction is rolled back, and a retry with the same key runs the handler again
     */
    KeyedResponse handle(KeyedRequest call, CommandTransaction transaction) throws X;
}
