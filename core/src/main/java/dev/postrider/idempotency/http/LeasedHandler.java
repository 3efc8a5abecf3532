package dev.postrider.idempotency.http;

import dev.postrider.idempotency.LeasedCommand;

/** Handles a request with a key whose effect is in another system. Implementations are thread-safe. */
@FunctionalInterface
public interface LeasedHandler<X extends Exception> {

    /**
     * Handles the request.
     *
     * @throws X a retry with the same key runs the handler again, unless {@link LeasedCommand#isEffectPossible()}; then
     *     the command is uncertain
     */
    KeyedResponse handle(KeyedRequest call, LeasedCommand lease) throws X;
}
