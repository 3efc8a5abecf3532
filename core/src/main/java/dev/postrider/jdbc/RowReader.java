package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import dev.postrider.message.TraceContext;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of one result set, which may have thousands of rows. It finds each column once, and checks a topic name once for
 * consecutive rows of that topic. Not thread-safe.
 */
final class RowReader {

    private final ResultSet row;
    private final SqlRunner sql;
    private final int id;
    private final int namespace;
    private final int topic;
    private final int type;
    private final int tenant;
    private final int orderingKey;
    private final int idempotencyKey;
    private final int contentType;
    private final int payload;
    private final int headers;
    private final int correlationId;
    private final int causationId;
    private final int traceparent;
    private final int tracestate;
    private final int occurredAt;
    private final int source;
    private final int subject;
    private final int deliverAt;
    private @Nullable TopicName lastTopic;

    RowReader(ResultSet row, SqlRunner sql) throws SQLException {
        this.row = row;
        this.sql = sql;
        id = row.findColumn("id");
        namespace = row.findColumn("namespace");
        topic = row.findColumn("topic");
        type = row.findColumn("type");
        tenant = row.findColumn("tenant");
        orderingKey = row.findColumn("ordering_key");
        idempotencyKey = row.findColumn("idempotency_key");
        contentType = row.findColumn("content_type");
        payload = row.findColumn("payload");
        headers = row.findColumn("headers");
        correlationId = row.findColumn("correlation_id");
        causationId = row.findColumn("causation_id");
        traceparent = row.findColumn("traceparent");
        tracestate = row.findColumn("tracestate");
        occurredAt = row.findColumn("occurred_at");
        source = row.findColumn("source");
        subject = row.findColumn("subject");
        deliverAt = row.findColumn("deliver_at");
    }

    /** @throws InvalidMessageException or IllegalArgumentException if the columns do not form a valid message */
    Message message() throws SQLException {
        return message(id());
    }

    UUID id() throws SQLException {
        return sql.readUuid(row, id);
    }

    /** As {@link #message()}, with an id that was read before. */
    Message message(UUID messageId) throws SQLException {
        String trace = row.getString(traceparent);
        byte[] bytes = row.getBytes(payload);
        Instant occurred = sql.readTime(row, occurredAt);
        return new Message(
                new MessageId(messageId),
                topic(),
                row.getString(type),
                row.getString(tenant),
                row.getString(orderingKey),
                row.getString(idempotencyKey),
                Payload.of(bytes == null ? new byte[0] : bytes, row.getString(contentType)),
                Json.readStrings(row.getString(headers)),
                row.getString(correlationId),
                row.getString(causationId),
                trace == null ? null : new TraceContext(trace, row.getString(tracestate)),
                occurred == null ? Instant.EPOCH : occurred,
                row.getString(source),
                row.getString(subject),
                sql.readTime(row, deliverAt));
    }

    private TopicName topic() throws SQLException {
        String space = row.getString(namespace);
        String name = row.getString(topic);
        TopicName last = lastTopic;
        if (last == null || !last.topic().equals(name) || !last.namespace().equals(space)) {
            last = new TopicName(space, name);
            lastTopic = last;
        }
        return last;
    }
}
