/**
 * The {@code Idempotency-Key} header (draft-ietf-httpapi-idempotency-key-header-07) in front of idempotent commands. {@link
 * dev.postrider.idempotency.http.IdempotencyKey} says how an operation treats keys and wraps handlers of the JDK's server; {@link
 * dev.postrider.idempotency.http.KeyedEndpoint} is the same without a server, for adapters. This room starts no threads and
 * knows nothing of tables.
 */
@NullMarked
package dev.postrider.idempotency.http;

import org.jspecify.annotations.NullMarked;
