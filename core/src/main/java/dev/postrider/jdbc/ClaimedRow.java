package dev.postrider.jdbc;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.Json;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import dev.postrider.message.TraceContext;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Comparator;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row as it was claimed. A row that does not make a message, because other software wrote it, has a {@code problem} in place
 * of the message and spoils no other.
 */
record ClaimedRow(
        long seq,
        @Nullable UUID id,
        @Nullable Message message,
        @Nullable String problem,
        int attempts,
        int crashes,
        Instant availableAt) {

    static final Comparator<ClaimedRow> BY_DUE_TIME =
            Comparator.comparing(ClaimedRow::availableAt).thenComparingLong(ClaimedRow::seq);

    static ClaimedRow read(ResultSet row, Dialect dialect) throws SQLException {
        long seq = row.getLong("seq");
        int attempts = row.getInt("attempts");
        int crashes = row.getInt("crashes");
        Instant availableAt = dialect.readTime(row, "available_at");
        UUID id = dialect.readUuid(row, "id");
        Instant due = availableAt == null ? Instant.EPOCH : availableAt;
        try {
            return new ClaimedRow(seq, id, readMessage(row, dialect), null, attempts, crashes, due);
        } catch (InvalidMessageException | IllegalArgumentException e) {
            return new ClaimedRow(seq, id, null, String.valueOf(e.getMessage()), attempts, crashes, due);
        }
    }

    long bytes() {
        return message == null ? 0 : message.payload().size();
    }

    /** @throws InvalidMessageException or IllegalArgumentException when the columns make no message */
    static Message readMessage(ResultSet row, Dialect dialect) throws SQLException {
        String traceparent = row.getString("traceparent");
        byte[] payload = row.getBytes("payload");
        Instant occurredAt = dialect.readTime(row, "occurred_at");
        return new Message(
                new MessageId(dialect.readUuid(row, "id")),
                new TopicName(row.getString("namespace"), row.getString("topic")),
                row.getString("type"),
                row.getString("tenant"),
                row.getString("ordering_key"),
                row.getString("idempotency_key"),
                Payload.of(payload == null ? new byte[0] : payload, row.getString("content_type")),
                Json.readStrings(row.getString("headers")),
                row.getString("correlation_id"),
                row.getString("causation_id"),
                traceparent == null ? null : new TraceContext(traceparent, row.getString("tracestate")),
                occurredAt == null ? Instant.EPOCH : occurredAt,
                row.getString("source"),
                row.getString("subject"),
                dialect.readTime(row, "deliver_at"));
    }
}
