package dev.postrider.jdbc.outbox;

import dev.postrider.encryption.EncryptedPayload;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import dev.postrider.message.Message;
import dev.postrider.message.TraceContext;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a message that are rarely set. One column, {@code attributes}, has them as a JSON object with the members that are set;
 * it is null if none is. Most messages have none, and a column each would cost every message. The member {@code compression} says
 * that the payload is a {@link CompressedPayload}, and {@code encryption} is the id of the key with which it is encrypted. The first member
 * is {@code encryption}, or else {@code compression}, so that claims and the view for people at a console find a {@link PackedPayload}.
 *
 * <p>An object without the member {@code v} is of version 1, this one. A later version writes its number there. A reader refuses what it
 * does not know, because it would lose it: the row is then unreadable and becomes a dead letter with that reason. The limits of the
 * parts, which {@link Message} checks, bound the size.
 *
 * @param keyId the id of the key with which the payload is encrypted; null if it is not
 * @param compressed whether the payload is compressed, before it was encrypted
 * @param occurredAt null if it is the time in the id of the message
 */
public record MessageAttributes(
        @Nullable String keyId,
        boolean compressed,
        Map<String, String> headers,
        @Nullable String correlationId,
        @Nullable String causationId,
        @Nullable TraceContext trace,
        @Nullable String source,
        @Nullable String subject,
        @Nullable Instant occurredAt,
        @Nullable Instant deliverAt,
        @Nullable Instant expiresAt) {

    private static final MessageAttributes NONE =
            new MessageAttributes(null, false, Map.of(), null, null, null, null, null, null, null, null);

    private static final String VERSION = "v";
    private static final String ENCRYPTION = "encryption";
    private static final String COMPRESSION = "compression";
    private static final String HEADERS = "headers";
    private static final String CORRELATION_ID = "correlationId";
    private static final String CAUSATION_ID = "causationId";
    private static final String TRACEPARENT = "traceparent";
    private static final String TRACESTATE = "tracestate";
    private static final String SOURCE = "source";
    private static final String SUBJECT = "subject";
    private static final String OCCURRED_AT = "occurredAt";
    private static final String DELIVER_AT = "deliverAt";
    private static final String EXPIRES_AT = "expiresAt";

    private static final Set<String> KNOWN = Set.of(
            ENCRYPTION,
            COMPRESSION,
            HEADERS,
            CORRELATION_ID,
            CAUSATION_ID,
            TRACEPARENT,
            TRACESTATE,
            SOURCE,
            SUBJECT,
            OCCURRED_AT,
            DELIVER_AT,
            EXPIRES_AT);

    /** Returns the value of the column for a message; null if none of the parts is set. */
    static @Nullable String write(Message message, @Nullable PackedPayload packed) {
        StringBuilder out = new StringBuilder();
        if (packed != null) {
            add(out, ENCRYPTION, packed.keyId());
            add(out, COMPRESSION, packed.isCompressed() ? CompressedPayload.FORMAT : null);
        }
        if (!message.headers().isEmpty()) {
            name(out, HEADERS);
            Json.write(out, message.headers());
        }
        add(out, CORRELATION_ID, message.correlationId());
        add(out, CAUSATION_ID, message.causationId());
        TraceContext trace = message.trace();
        if (trace != null) {
            add(out, TRACEPARENT, trace.traceparent());
            add(out, TRACESTATE, trace.tracestate());
        }
        add(out, SOURCE, message.source());
        add(out, SUBJECT, message.subject());
        if (!message.occurredAt().equals(message.id().time())) {
            add(out, OCCURRED_AT, message.occurredAt().toString());
        }
        if (message.deliverAt() != null) {
            add(out, DELIVER_AT, message.deliverAt().toString());
        }
        if (message.expiresAt() != null) {
            add(out, EXPIRES_AT, message.expiresAt().toString());
        }
        return out.isEmpty() ? null : out.append('}').toString();
    }

    /**
     * Returns the column of a message that is written once more, with everything else as it is.
     *
     * @param causationId the message that it comes from; null for the same one
     * @param occurredAt the time of the event, if it is neither in the column nor in the id of the new row; otherwise null
     * @throws IllegalArgumentException if the column is not readable, or if an encrypted payload would get another message
     */
    public static @Nullable String again(
            @Nullable String column, @Nullable String causationId, @Nullable Instant occurredAt) {
        if (causationId == null && occurredAt == null) {
            return column;
        }
        Map<String, Object> members = column == null ? new LinkedHashMap<>() : Json.readObject(column);
        if (causationId != null) {
            if (members.containsKey(ENCRYPTION)) {
                throw new IllegalArgumentException("the payload is encrypted for the id of the old message");
            }
            members.put(CAUSATION_ID, causationId);
        }
        if (occurredAt != null) {
            members.putIfAbsent(OCCURRED_AT, occurredAt.toString());
        }
        return Json.writeTree(members);
    }

    private static void add(StringBuilder out, String name, @Nullable String value) {
        if (value != null) {
            name(out, name);
            Json.quote(out, value);
        }
    }

    private static void name(StringBuilder out, String name) {
        out.append(out.isEmpty() ? "{\"" : ",\"").append(name).append("\":");
    }

    /**
     * Reads the value of the column.
     *
     * @throws IllegalArgumentException or {@link InvalidMessageException} if this version cannot read it
     */
    public static MessageAttributes read(@Nullable String column) {
        if (column == null) {
            return NONE;
        }
        Map<String, Object> members = Json.readObject(column);
        Object version = members.get(VERSION);
        if (version != null) {
            throw new IllegalArgumentException(
                    "the attributes are of version " + version + ", and this version of Postrider reads version 1");
        }
        for (String name : members.keySet()) {
            if (!KNOWN.contains(name)) {
                throw new IllegalArgumentException("the attributes have the unknown member '" + name + "'");
            }
        }
        String compression = text(members, COMPRESSION);
        if (compression != null && !compression.equals(CompressedPayload.FORMAT)) {
            throw new IllegalArgumentException("the payload has the unknown compression '" + compression + "'");
        }
        return new MessageAttributes(
                keyId(members),
                compression != null,
                headers(members.get(HEADERS)),
                text(members, CORRELATION_ID),
                text(members, CAUSATION_ID),
                trace(members),
                text(members, SOURCE),
                text(members, SUBJECT),
                time(members, OCCURRED_AT),
                time(members, DELIVER_AT),
                time(members, EXPIRES_AT));
    }

    private static @Nullable String keyId(Map<String, Object> members) {
        String keyId = text(members, ENCRYPTION);
        if (keyId != null && !EncryptedPayload.isKeyId(keyId)) {
            throw wrong(ENCRYPTION, "the id of a key");
        }
        return keyId;
    }

    /** Whether the payload is encrypted. */
    public boolean isEncrypted() {
        return keyId != null;
    }

    /** Returns the encrypted payload of the row with these attributes. */
    public SealedPayload sealed(byte[] column, SealedPayload.Binding row) {
        if (keyId == null) {
            throw new IllegalStateException("the payload is not encrypted");
        }
        return new SealedPayload(column, keyId, compressed, row);
    }

    /**
     * Returns the payload of the row with these attributes, if it is not encrypted. Every reader of a row calls it, and sees no compressed
     * bytes.
     *
     * @param column the column {@code payload}
     * @throws IllegalArgumentException if the column is compressed, and damaged or larger than the limit when decompressed
     */
    public byte[] payload(byte[] column, int maxPayloadBytes) {
        return compressed ? CompressedPayload.decompress(column, maxPayloadBytes) : column;
    }

    private static Map<String, String> headers(@Nullable Object value) {
        if (value == null) {
            return Map.of();
        }
        if (!(value instanceof Map<?, ?> object)) {
            throw wrong(HEADERS, "an object of strings");
        }
        Map<String, String> headers = new LinkedHashMap<>();
        object.forEach((name, text) -> headers.put((String) name, (String) text));
        return headers;
    }

    private static @Nullable TraceContext trace(Map<String, Object> members) {
        String traceparent = text(members, TRACEPARENT);
        String tracestate = text(members, TRACESTATE);
        if (traceparent == null && tracestate != null) {
            throw new IllegalArgumentException("the attribute 'tracestate' needs the attribute 'traceparent'");
        }
        return traceparent == null ? null : new TraceContext(traceparent, tracestate);
    }

    private static @Nullable String text(Map<String, Object> members, String name) {
        Object value = members.get(name);
        if (value != null && !(value instanceof String)) {
            throw wrong(name, "a string");
        }
        return (String) value;
    }

    private static @Nullable Instant time(Map<String, Object> members, String name) {
        String text = text(members, name);
        try {
            return text == null ? null : Instant.parse(text);
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("the attribute '" + name + "' must be a time in ISO 8601", e);
        }
    }

    private static IllegalArgumentException wrong(String name, String wanted) {
        return new IllegalArgumentException("the attribute '" + name + "' must be " + wanted);
    }
}
