package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One message, as it was written and as it will be delivered. Immutable and checked when built; build one with
 * {@link #to(String)}, or {@link #received} for one that came in. Times are kept to the microsecond, which is what every database keeps.
 *
 * @param type what happened, such as {@code order.placed}
 * @param tenant whose it is; part of every uniqueness rule
 * @param key the ordering key: messages with the same key belong in sequence
 * @param idempotencyKey what makes the logical event unique; without one the message id stands for it
 * @param deliverAt not to be delivered before this time by the database's clock
 */
public record Message(
        MessageId id,
        TopicName topic,
        String type,
        @Nullable String tenant,
        @Nullable String key,
        @Nullable String idempotencyKey,
        Payload payload,
        Map<String, String> headers,
        @Nullable String correlationId,
        @Nullable String causationId,
        @Nullable TraceContext trace,
        Instant occurredAt,
        @Nullable String source,
        @Nullable String subject,
        @Nullable Instant deliverAt) {

    /** Says, in the inbox's own topics and nowhere else, what a message was when it came in. Handlers do not see it. */
    public static final String ORIGIN_HEADER = "postrider-origin";

    private static final int SHORT = 255;
    private static final int LONG = 500;
    private static final Instant EARLIEST = Instant.EPOCH;
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999999Z");

    public Message {
        present("id", id);
        present("topic", topic);
        Text.required("type", type, SHORT);
        Text.optional("tenant", tenant, SHORT);
        Text.optional("key", key, SHORT);
        Text.optional("idempotency key", idempotencyKey, SHORT);
        present("payload", payload);
        headers = Headers.checked(topic, headers);
        Text.optional("correlation id", correlationId, SHORT);
        Text.optional("causation id", causationId, SHORT);
        occurredAt = time("occurred-at", present("occurred-at", occurredAt));
        Text.uriReference("source", source, LONG);
        Text.optional("subject", subject, LONG);
        deliverAt = deliverAt == null ? null : time("deliver-at", deliverAt);
    }

    /** Begins a message to a declared topic: {@code "orders"} or {@code "namespace/orders"}. */
    public static Builder to(String topic) {
        return to(TopicName.of(topic));
    }

    public static Builder to(TopicName topic) {
        return new Builder(topic);
    }

    /**
     * Begins a message that came from elsewhere.
     *
     * @param topic where it came from, as far as this application names it
     * @param id what its sender calls it, read as {@link MessageId#named} says; a redelivery has the same
     */
    public static Builder received(String topic, String id) {
        return to(topic).id(MessageId.named(id));
    }

    /**
     * This message as a consequence of another: what it does not say itself of correlation, causation and trace it takes from
     * there. The correlation id of a cause without one is the cause's id.
     */
    public Message causedBy(Message cause) {
        String conversation = cause.correlationId != null ? cause.correlationId : cause.id.toString();
        return causedBy(conversation, cause.id.toString(), cause.trace);
    }

    /** The same for a cause that is no message, such as a command, and begins a conversation. */
    public Message causedBy(UUID cause) {
        return causedBy(cause.toString(), cause.toString(), null);
    }

    /** This message as whoever receives it has it: the same, with an id that its sender gave it. */
    public Message asReceived() {
        return id.isDefault() ? with(new MessageId(id.value()), correlationId, causationId, trace) : this;
    }

    private Message causedBy(String conversation, String cause, @Nullable TraceContext causesTrace) {
        return with(
                id,
                correlationId != null ? correlationId : conversation,
                causationId != null ? causationId : cause,
                trace != null ? trace : causesTrace);
    }

    private Message with(
            MessageId newId,
            @Nullable String newCorrelationId,
            @Nullable String newCausationId,
            @Nullable TraceContext newTrace) {
        return new Message(
                newId,
                topic,
                type,
                tenant,
                key,
                idempotencyKey,
                payload,
                headers,
                newCorrelationId,
                newCausationId,
                newTrace,
                occurredAt,
                source,
                subject,
                deliverAt);
    }

    /** The key under which this message is delivered once: its idempotency key, or else its id. */
    public String effectiveKey() {
        return idempotencyKey != null ? idempotencyKey : id.toString();
    }

    private static <T> T present(String field, @Nullable T value) {
        if (value == null) {
            throw new InvalidMessageException(field, "is missing");
        }
        return value;
    }

    private static Instant time(String field, Instant time) {
        if (time.isBefore(EARLIEST) || time.isAfter(LATEST)) {
            throw new InvalidMessageException(field, "must lie between 1970 and 9999, but is " + time);
        }
        return time.truncatedTo(ChronoUnit.MICROS);
    }

    /** Names the message without its content: payload and headers do not belong in logs. */
    @Override
    public String toString() {
        return "Message[" + id + " to " + topic + ", " + type + ", " + payload + "]";
    }

    /** Collects the parts of a message. Not thread-safe; may be used again after {@link #build()}, for a message of its own. */
    public static final class Builder {

        private final TopicName topic;
        private @Nullable MessageId id;
        private @Nullable String type;
        private @Nullable String tenant;
        private @Nullable String key;
        private @Nullable String idempotencyKey;
        private @Nullable Payload payload;
        private final Map<String, String> headers = new LinkedHashMap<>();
        private @Nullable String correlationId;
        private @Nullable String causationId;
        private @Nullable TraceContext trace;
        private @Nullable Instant occurredAt;
        private @Nullable String source;
        private @Nullable String subject;
        private @Nullable Instant deliverAt;

        private Builder(TopicName topic) {
            this.topic = topic;
        }

        /** An id of the caller's own; without this call each message gets a new {@link MessageId#next()}. */
        public Builder id(MessageId id) {
            this.id = id;
            return this;
        }

        public Builder type(String type) {
            this.type = type;
            return this;
        }

        public Builder tenant(@Nullable String tenant) {
            this.tenant = tenant;
            return this;
        }

        /** The ordering key. */
        public Builder key(@Nullable String key) {
            this.key = key;
            return this;
        }

        public Builder idempotencyKey(@Nullable String idempotencyKey) {
            this.idempotencyKey = idempotencyKey;
            return this;
        }

        public Builder idempotencyKey(UUID idempotencyKey) {
            return idempotencyKey(idempotencyKey.toString());
        }

        public Builder payload(Payload payload) {
            this.payload = payload;
            return this;
        }

        public Builder json(String json) {
            return payload(Payload.json(json));
        }

        public Builder text(String text) {
            return payload(Payload.text(text));
        }

        public Builder bytes(byte[] bytes, String contentType) {
            return payload(Payload.of(bytes, contentType));
        }

        public Builder header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        public Builder headers(Map<String, String> headers) {
            this.headers.putAll(headers);
            return this;
        }

        /** What the whole conversation is known by. */
        public Builder correlationId(@Nullable String correlationId) {
            this.correlationId = correlationId;
            return this;
        }

        /** What brought this message about, such as the id of the message being handled. */
        public Builder causationId(@Nullable String causationId) {
            this.causationId = causationId;
            return this;
        }

        public Builder trace(@Nullable TraceContext trace) {
            this.trace = trace;
            return this;
        }

        /** When it happened; the time of {@link #build()} unless said otherwise. */
        public Builder occurredAt(Instant occurredAt) {
            this.occurredAt = occurredAt;
            return this;
        }

        /** The CloudEvents source: a URI reference as RFC 3986 says, such as {@code /shop} or {@code https://shop.example}. */
        public Builder source(@Nullable String source) {
            this.source = source;
            return this;
        }

        /** The CloudEvents subject. */
        public Builder subject(@Nullable String subject) {
            this.subject = subject;
            return this;
        }

        public Builder deliverAt(@Nullable Instant deliverAt) {
            this.deliverAt = deliverAt;
            return this;
        }

        /** @throws InvalidMessageException naming the first part that is missing or not acceptable */
        public Message build() {
            return new Message(
                    id != null ? id : MessageId.byDefault(),
                    topic,
                    present("type", type),
                    tenant,
                    key,
                    idempotencyKey,
                    present("payload", payload),
                    headers,
                    correlationId,
                    causationId,
                    trace,
                    occurredAt != null ? occurredAt : Instant.now(),
                    source,
                    subject,
                    deliverAt);
        }
    }
}
