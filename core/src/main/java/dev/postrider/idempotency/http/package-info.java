/**
 * The {@code Idempotency-Key} header (draft-ietf-httpapi-idempotency-key-header-07) for idempotent commands. {@link
 * dev.postrider.idempotency.http.IdempotencyKey} configures an operation and wraps handlers of the JDK's HTTP server;
 * {@link dev.postrider.idempotency.http.KeyedEndpoint} is the same without a server, for adapters. This package starts
 * no threads and contains no SQL.
 */
@NullMarked
package dev.postrider.idempotency.http;

import org.jspecify.annotations.NullMarked;
