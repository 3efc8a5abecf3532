package dev.postrider.transport.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.internal.Json;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import dev.postrider.transport.PermanentFailureException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message as a CloudEvent 1.0. Immutable. */
record CloudEvent(Message message, Map<String, String> attributes) {

    static final String CONTENT_TYPE = "application/cloudevents+json";

    static CloudEvent of(Message message, @Nullable String defaultSource) {
        String source = message.source() != null ? message.source() : defaultSource;
        Map<String, String> attributes = new LinkedHashMap<>();
        attributes.put("specversion", "1.0");
        attributes.put("id", message.id().toString());
        attributes.put(
                "source",
                source != null ? source : "urn:postrider:" + message.topic().namespace());
        attributes.put("type", message.type());
        attributes.put("time", message.occurredAt().toString());
        putIfPresent(attributes, "subject", message.subject());
        putIfPresent(attributes, "tenant", message.tenant());
        putIfPresent(attributes, "partitionkey", message.key());
        putIfPresent(attributes, "correlationid", message.correlationId());
        putIfPresent(attributes, "causationid", message.causationId());
        TraceContext trace = message.trace();
        if (trace != null) {
            attributes.put("traceparent", trace.traceparent());
            putIfPresent(attributes, "tracestate", trace.tracestate());
        }
        if (message.expiresAt() != null) {
            attributes.put("expirytime", message.expiresAt().toString());
        }
        return new CloudEvent(message, attributes);
    }

    private static void putIfPresent(Map<String, String> attributes, String name, @Nullable String value) {
        if (value != null) {
            attributes.put(name, value);
        }
    }

    /**
     * Returns the JSON envelope. A JSON payload is inserted byte for byte, after a check that it is exactly one JSON
     * value and cannot end the envelope early.
     *
     * @throws PermanentFailureException if the content type is JSON and the payload is not valid JSON
     */
    byte[] toJson() {
        Map<String, String> envelope = new LinkedHashMap<>(attributes);
        envelope.put("datacontenttype", message.payload().contentType());
        String open = Json.write(envelope);
        ByteArrayOutputStream out =
                new ByteArrayOutputStream(open.length() + message.payload().size() + 16);
        out.writeBytes(open.substring(0, open.length() - 1).getBytes(UTF_8));
        if (message.payload().size() > 0) {
            writeData(out);
        }
        out.write('}');
        return out.toByteArray();
    }

    private void writeData(ByteArrayOutputStream out) {
        byte[] bytes = message.payload().bytes();
        String mediaType =
                message.payload().contentType().split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
        String text = decoded(bytes);
        if (isJson(mediaType)) {
            String problem = text == null ? "is not UTF-8" : JsonScanner.problemIn(text);
            if (problem != null) {
                throw new PermanentFailureException("the payload says it is JSON, but " + problem);
            }
            out.writeBytes(",\"data\":".getBytes(UTF_8));
            out.writeBytes(bytes);
        } else if (mediaType.startsWith("text/") && text != null) {
            StringBuilder quoted = new StringBuilder(",\"data\":");
            Json.quote(quoted, text);
            out.writeBytes(quoted.toString().getBytes(UTF_8));
        } else {
            out.writeBytes(",\"data_base64\":\"".getBytes(UTF_8));
            out.writeBytes(Base64.getEncoder().encode(bytes));
            out.write('"');
        }
    }

    private static boolean isJson(String mediaType) {
        return mediaType.equals("application/json") || mediaType.equals("text/json") || mediaType.endsWith("+json");
    }

    private static @Nullable String decoded(byte[] bytes) {
        try {
            return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
