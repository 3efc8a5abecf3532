/**
 * Delivery by HTTP: CloudEvents, signed as Standard Webhooks, with the HTTP client of the JDK. Only
 * {@link dev.postrider.transport.http.Webhook} and, for receivers,
 * {@link dev.postrider.transport.http.WebhookVerifier} are API. This package starts no threads of its own and does
 * not depend on tables or leases.
 */
@NullMarked
package dev.postrider.transport.http;

import org.jspecify.annotations.NullMarked;
