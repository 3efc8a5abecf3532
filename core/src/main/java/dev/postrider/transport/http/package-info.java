/**
 * Delivery by HTTP: CloudEvents, signed as Standard Webhooks, on the client of the JDK. Only {@link
 * dev.postrider.transport.http.Webhook} and, for receivers, {@link dev.postrider.transport.http.WebhookVerifier} are API.
 * This room starts no threads of its own and knows nothing of tables or leases.
 */
@NullMarked
package dev.postrider.transport.http;

import org.jspecify.annotations.NullMarked;
