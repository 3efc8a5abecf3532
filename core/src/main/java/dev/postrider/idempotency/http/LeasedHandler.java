package dev.postrider.idempotency.http;

import dev.postrider.idempotency.LeasedCommand;

/** Handles a request that came with a key and whose effect is in another system. Implementations are thread-safe. */
@FunctionalInterface
public interface LeasedHandler<X extends Exception> {

    /** @throws X a retry with the same key runs again, unless {@link LeasedCommand#externalEffectStarted()} was said */
    HttpAnswer handle(HttpCall call, LeasedCommand lease) throws X;
}
