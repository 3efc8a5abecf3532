package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.jdbc.outbox.MessageAttributes;
import dev.postrider.jdbc.outbox.NewRow;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;

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

    /** @throws InvalidMessageException or IllegalArgumentException if the columns do not form a valid message */
    Message message() throws SQLException {
        return message(id());
    }

    UUID id() throws SQLException {
        return sql.readUuid(row, id);
    }

    /** As {@link #message()}, with an id that was read before. */
    Message message(UUID uuid) throws SQLException {
        MessageId messageId = new MessageId(uuid);
        byte[] bytes = row.getBytes(payload);
        String mediaType = row.getString(contentType);
        MessageAttributes rare = MessageAttributes.read(row.getString(attributes));
        return new Message(
                messageId,
                topic,
                row.getString(type),
                row.getString(tenant),
                row.getString(orderingKey),
                row.getString(idempotencyKey),
                Payload.of(
                        bytes == null ? new byte[0] : rare.payload(bytes, sql.maxPayloadBytes()),
                        mediaType == null ? NewRow.DEFAULT_CONTENT_TYPE : mediaType),
                rare.headers(),
                rare.correlationId(),
                rare.causationId(),
                rare.trace(),
                occurredAt(rare, messageId),
                rare.source(),
                rare.subject(),
                rare.deliverAt());
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
