package dev.postrider.message;

import dev.postrider.error.InvalidMessageException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One message, as it is written and delivered. Immutable, and checked when it is built: an invalid part throws
 * {@link InvalidMessageException}. Build a new message with {@link #to(String)}, and a received one with
 * {@link #received}. Times have microsecond precision, because all supported databases store it.
 *
 * @param type the kind of event, such as {@code order.placed}
 * @param tenant the tenant that owns the message; part of every uniqueness rule
 * @param key the ordering key: messages of one key are delivered in sequence
 * @param idempotencyKey the key that makes the logical event unique; without one, the message id is used
 * @param occurredAt the time of the event
 * @param deliverAt the earliest delivery time, by the clock of the database
 * @param expiresAt the time after which the message is not delivered any more, by the clock of the database
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
        @Nullable Instant deliverAt,
        @Nullable Instant expiresAt) {

    /**
     * The header that stores the original envelope of a received message. It is used only in topics of the inbox.
     * Handlers do not see it.
     */
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
        expiresAt = expiresAt == null ? null : time("expires-at", expiresAt);
        if (expiresAt != null && deliverAt != null && !expiresAt.isAfter(deliverAt)) {
            throw new InvalidMessageException(
                    "expires-at", "must be later than deliver-at (" + deliverAt + "), but is " + expiresAt);
        }
    }

    /** Starts a message to a declared topic: {@code "orders"} or {@code "namespace/orders"}. */
    public static Builder to(String topic) {
        return to(TopicName.of(topic));
    }

    /** Starts a message to a declared topic. */
    public static Builder to(TopicName topic) {
        return new Builder(topic);
    }

    /**
     * Starts a message that was received from another system.
     *
     * @param topic the source of the message, under the name that this application uses
     * @param id the sender's id of the message, converted by {@link MessageId#named}. A redelivery must have the same
     *     id
     */
    public static Builder received(String topic, String id) {
        return to(topic).id(MessageId.named(id));
    }

    /**
     * Returns this message as a consequence of another message. A missing correlation id, causation id or trace is
     * copied from the cause. If the cause has no correlation id, its message id is used.
     */
    public Message causedBy(Message cause) {
        String conversation = cause.correlationId != null ? cause.correlationId : cause.id.toString();
        return causedBy(conversation, cause.id.toString(), cause.trace);
    }

    /**
     * Returns this message as a consequence of something other than a message, such as a command. The id of the cause
     * becomes the correlation id and the causation id, if these are missing.
     */
    public Message causedBy(UUID cause) {
        return causedBy(cause.toString(), cause.toString(), null);
    }

    /** Returns this message with a trace context, unless it has one. */
    public Message tracedBy(TraceContext context) {
        return trace == null ? with(id, correlationId, causationId, context) : this;
    }

    /** Returns this message as its receiver sees it: equal, with an id that counts as given by the sender. */
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
                deliverAt,
                expiresAt);
    }

    /** Returns the key under which this message is delivered once: its idempotency key, or its id if it has none. */
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

    /** Returns the id, topic, type and payload size. The content of payload and headers must not appear in logs. */
    @Override
    public String toString() {
        return "Message[" + id + " to " + topic + ", " + type + ", " + payload + "]";
    }

    /**
     * Collects the parts of a message. Not thread-safe. It can be used again after {@link #build()} for another
     * message.
     */
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
        private @Nullable Instant expiresAt;

        private Builder(TopicName topic) {
            this.topic = topic;
        }

        /** Sets the id. Without this call each message gets a new {@link MessageId#next()}. */
        public Builder id(MessageId id) {
            this.id = id;
            return this;
        }

        /** Sets the kind of event, such as {@code order.placed}. Required. */
        public Builder type(String type) {
            this.type = type;
            return this;
        }

        /** Sets the tenant that owns the message. */
        public Builder tenant(@Nullable String tenant) {
            this.tenant = tenant;
            return this;
        }

        /** Sets the ordering key. */
        public Builder key(@Nullable String key) {
            this.key = key;
            return this;
        }

        /** Sets the key that makes the logical event unique. */
        public Builder idempotencyKey(@Nullable String idempotencyKey) {
            this.idempotencyKey = idempotencyKey;
            return this;
        }

        /** Sets the key that makes the logical event unique, for example a {@link DeterministicKey}. */
        public Builder idempotencyKey(UUID idempotencyKey) {
            return idempotencyKey(idempotencyKey.toString());
        }

        /** Sets the payload. A payload is required. */
        public Builder payload(Payload payload) {
            this.payload = payload;
            return this;
        }

        /** Sets a JSON payload. The text is not validated. */
        public Builder json(String json) {
            return payload(Payload.json(json));
        }

        /** Sets a plain text payload. */
        public Builder text(String text) {
            return payload(Payload.text(text));
        }

        /** Sets a binary payload. The array is not copied and must not be changed. */
        public Builder bytes(byte[] bytes, String contentType) {
            return payload(Payload.of(bytes, contentType));
        }

        /** Sets a header. A second call with the same name replaces the value. */
        public Builder header(String name, String value) {
            headers.put(name, value);
            return this;
        }

        /** Adds all headers of the map. */
        public Builder headers(Map<String, String> headers) {
            this.headers.putAll(headers);
            return this;
        }

        /** Sets the id that all messages of one conversation share. */
        public Builder correlationId(@Nullable String correlationId) {
            this.correlationId = correlationId;
            return this;
        }

        /** Sets the id of the cause, such as the id of the message being handled. */
        public Builder causationId(@Nullable String causationId) {
            this.causationId = causationId;
            return this;
        }

        /** Sets the trace context. */
        public Builder trace(@Nullable TraceContext trace) {
            this.trace = trace;
            return this;
        }

        /**
         * Sets the time of the event. The default is the time in the id if it is of version 7, as ids are that are made
         * here. It is the time of {@link #build()} for an id of another version.
         */
        public Builder occurredAt(Instant occurredAt) {
            this.occurredAt = occurredAt;
            return this;
        }

        /**
         * Sets the CloudEvents source: a URI reference (RFC 3986) such as {@code /shop} or
         * {@code https://shop.example}.
         */
        public Builder source(@Nullable String source) {
            this.source = source;
            return this;
        }

        /** Sets the CloudEvents subject. */
        public Builder subject(@Nullable String subject) {
            this.subject = subject;
            return this;
        }

        /** Sets the earliest delivery time, by the clock of the database. Null means immediately. */
        public Builder deliverAt(@Nullable Instant deliverAt) {
            this.deliverAt = deliverAt;
            return this;
        }

        /**
         * Sets the time from which the message is worthless, by the clock of the database. A message that was not
         * delivered by then ends with the reason {@code EXPIRED}. A time in the past is accepted: the message then
         * ends when a node claims it. Null means never.
         */
        public Builder expiresAt(@Nullable Instant expiresAt) {
            this.expiresAt = expiresAt;
            return this;
        }

        /**
         * The builder makes this check, not {@link Payload}: a stored message with another content type must stay
         * readable.
         */
        private static Payload withPlainType(Payload payload) {
            String type = payload.contentType();
            if (!type.chars().allMatch(c -> c >= ' ' && c <= '~')) {
                throw new InvalidMessageException(
                        "content type", "must be ASCII, such as 'application/json', but is " + Text.excerpt(type));
            }
            return payload;
        }

        private static Instant timeOf(MessageId id) {
            Instant time = id.time();
            return time != null ? time : Instant.now();
        }

        /**
         * Returns the message.
         *
         * @throws InvalidMessageException when a part is missing or not valid. It names the first such part
         */
        public Message build() {
            MessageId known = id != null ? id : MessageId.byDefault();
            return new Message(
                    known,
                    topic,
                    present("type", type),
                    tenant,
                    key,
                    idempotencyKey,
                    withPlainType(present("payload", payload)),
                    headers,
                    correlationId,
                    causationId,
                    trace,
                    occurredAt != null ? occurredAt : timeOf(known),
                    source,
                    subject,
                    deliverAt,
                    expiresAt);
        }
    }
}
