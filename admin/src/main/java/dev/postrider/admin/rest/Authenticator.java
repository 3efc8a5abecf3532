package dev.postrider.admin.rest;

import java.util.Optional;

/**
 * Finds out who sends a request: from a token ({@link BearerTokens}), or from the principal of a server that has
 * authenticated the request before. Implementations are thread-safe. They compare secrets in constant time.
 */
@FunctionalInterface
public interface Authenticator {

    /** Returns the operator; empty refuses the request. An exception refuses it too, and is logged. */
    Optional<Operator> authenticate(AdminRequest request);
}
