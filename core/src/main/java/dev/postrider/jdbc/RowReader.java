package dev.postrider.jdbc;

import dev.postrider.admin.StoredMessage;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.jdbc.outbox.MessageAttributes;
import dev.postrider.jdbc.outbox.NewRow;
import dev.postrider.jdbc.outbox.SealedPayload;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Reads the messages of one topic from a result set, which may have thousands of rows. It finds each column once. Not thread-safe. */
final class RowReader {

    private final ResultSet row;
    private final SqlRunner sql;
    private final TopicName topic;
    private final int id;
    private final int type;
    private final int tenant;
    private final int orderingKey;
    private final int idempotencyKey;
    private final int contentType;
    private final int payload;
    private final int attributes;
    private final int createdAt;

    /** @param topic the topic of every row: a row has only its number, and its name for people */
    RowReader(ResultSet row, SqlRunner sql, TopicName topic) throws SQLException {
        this.row = row;
        this.sql = sql;
        this.topic = topic;
        id = row.findColumn("id");
        type = row.findColumn("type");
        tenant = row.findColumn("tenant");
        orderingKey = row.findColumn("ordering_key");
        idempotencyKey = row.findColumn("idempotency_key");
        contentType = row.findColumn("content_type");
        payload = row.findColumn("payload");
        attributes = row.findColumn("attributes");
        createdAt = row.findColumn("created_at");
    }

    UUID id() throws SQLException {
        return sql.readUuid(row, id);
    }

    /**
     * Reads a message. Its payload may be encrypted.
     *
     * @throws InvalidMessageException or IllegalArgumentException if the columns do not form a valid message
     */
    ReadMessage read(UUID uuid) throws SQLException {
        MessageId messageId = new MessageId(uuid);
        byte[] column = row.getBytes(payload);
        MessageAttributes rare = MessageAttributes.read(row.getString(attributes));
        String stored = row.getString(contentType);
        String mediaType = stored == null ? NewRow.DEFAULT_CONTENT_TYPE : stored;
        Function<Payload, Message> message = withPayload(messageId, rare);
        if (column == null || !rare.isEncrypted()) {
            byte[] clear = column == null ? new byte[0] : rare.payload(column, sql.maxPayloadBytes());
            return new ReadMessage(message.apply(Payload.of(clear, mediaType)), null, message);
        }
        SealedPayload.Binding binding = new SealedPayload.Binding(messageId, topic, row.getString(tenant));
        Message without = message.apply(Payload.of(new byte[0], mediaType));
        return new ReadMessage(without, rare.sealed(column, binding), message);
    }

    /** Returns a message without content, for a row that cannot be read. It has the tenant and the ordering key only if both are valid. */
    Message placeholder(UUID uuid) throws SQLException {
        MessageId messageId = new MessageId(uuid);
        try {
            return placeholder(messageId, row.getString(tenant), row.getString(orderingKey));
        } catch (InvalidMessageException e) {
            return placeholder(messageId, null, null);
        }
    }

    private Message placeholder(MessageId messageId, @Nullable String itsTenant, @Nullable String itsKey) {
        Payload none = Payload.of(new byte[0], NewRow.DEFAULT_CONTENT_TYPE);
        return new Message(
                messageId,
                topic,
                StoredMessage.UNREADABLE_TYPE,
                itsTenant,
                itsKey,
                null,
                none,
                Map.of(),
                null,
                null,
                null,
                Instant.EPOCH,
                null,
                null,
                null,
                null);
    }

    /** Reads all columns but the payload. */
    private Function<Payload, Message> withPayload(MessageId messageId, MessageAttributes rare) throws SQLException {
        String itsType = row.getString(type);
        String itsTenant = row.getString(tenant);
        String itsKey = row.getString(orderingKey);
        String itsIdempotencyKey = row.getString(idempotencyKey);
        Instant occurredAt = occurredAt(rare, messageId);
        return itsPayload -> new Message(
                messageId,
                topic,
                itsType,
                itsTenant,
                itsKey,
                itsIdempotencyKey,
                itsPayload,
                rare.headers(),
                rare.correlationId(),
                rare.causationId(),
                rare.trace(),
                occurredAt,
                rare.source(),
                rare.subject(),
                rare.deliverAt(),
                rare.expiresAt());
    }

    /** Reads the time of the row only where it is needed: it costs more than the other columns. */
    private Instant occurredAt(MessageAttributes rare, MessageId messageId) throws SQLException {
        Instant known = rare.occurredAt() != null ? rare.occurredAt() : messageId.time();
        if (known != null) {
            return known;
        }
        Instant created = sql.readTimeIfValid(row, createdAt);
        if (created == null) {
            throw new InvalidMessageException("created-at", "is not a time that the driver can read");
        }
        return created;
    }
}
