package dev.postrider.transport.http;

import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.PermanentFailureException;
import java.net.http.HttpRequest;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Builds the HTTP request of a delivery. */
final class WebhookRequest {

    private final WebhookSettings settings;

    WebhookRequest(WebhookSettings settings) {
        this.settings = settings;
    }

    /**
     * Returns the request.
     *
     * @throws PermanentFailureException if the message cannot be sent this way on any attempt
     */
    HttpRequest of(Delivery delivery) {
        Message message = delivery.message();
        CloudEvent event = CloudEvent.of(message, settings.source);
        byte[] body = settings.structured ? event.toJson() : message.payload().bytes();
        HttpRequest.Builder request = HttpRequest.newBuilder(settings.destination.uri())
                .timeout(settings.timeout)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .setHeader("User-Agent", "postrider");
        message.headers().forEach((name, value) -> request.setHeader(name, HttpHeader.encodeText(value)));
        settings.headers.forEach(header -> request.setHeader(header.name(), header.value()));
        contentHeaders(request, event);
        traceHeaders(request, delivery.trace());
        request.setHeader("Idempotency-Key", HttpHeader.structuredString(delivery.idempotencyKey()));
        if (message.tenant() != null) {
            request.setHeader("postrider-tenant", HttpHeader.encode(message.tenant()));
        }
        request.setHeader("postrider-attempt", Integer.toString(delivery.attempt()));
        webhookHeaders(request, message.id().toString(), body);
        return request.build();
    }

    private void contentHeaders(HttpRequest.Builder request, CloudEvent event) {
        if (settings.structured) {
            request.setHeader("Content-Type", CloudEvent.CONTENT_TYPE);
            return;
        }
        String contentType = event.message().payload().contentType();
        if (!HttpHeader.isPrintable(contentType)) {
            throw new PermanentFailureException("the content type contains characters that HTTP cannot carry");
        }
        request.setHeader("Content-Type", contentType);
        for (Map.Entry<String, String> attribute : event.attributes().entrySet()) {
            request.setHeader("ce-" + attribute.getKey(), HttpHeader.encode(attribute.getValue()));
        }
    }

    /** The headers are about this hop. The event keeps the trace context under which it was written. */
    private static void traceHeaders(HttpRequest.Builder request, @Nullable TraceContext trace) {
        if (trace != null) {
            request.setHeader("traceparent", trace.traceparent());
            if (trace.tracestate() != null) {
                request.setHeader("tracestate", trace.tracestate());
            }
        }
    }

    /**
     * The timestamp is the time of this attempt, so that a receiver's tolerance does not need to cover the retries.
     */
    private void webhookHeaders(HttpRequest.Builder request, String id, byte[] body) {
        String timestamp = Long.toString(settings.clock.instant().getEpochSecond());
        request.setHeader("webhook-id", id);
        request.setHeader("webhook-timestamp", timestamp);
        if (!settings.signers.isEmpty()) {
            byte[] content = Signer.content(id, timestamp, body);
            request.setHeader(
                    "webhook-signature",
                    settings.signers.stream()
                            .map(signer -> signer.sign(content))
                            .collect(Collectors.joining(" ")));
        }
    }
}
