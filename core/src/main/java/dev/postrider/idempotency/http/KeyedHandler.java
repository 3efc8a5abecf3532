package dev.postrider.idempotency.http;

import dev.postrider.idempotency.CommandTransaction;

/** Handles a request that came with a key, in the transaction of its command. Implementations are thread-safe. */
@FunctionalInterface
public interface KeyedHandler<X extends Exception> {

    /**
     * May be called again for the same request, when the database chose its transaction to give way to another.
     *
     * @throws X the transaction is rolled back, and a retry with the same key runs again
     */
    HttpAnswer handle(HttpCall call, CommandTransaction transaction) throws X;
}
