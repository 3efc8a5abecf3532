package dev.postrider.jdbc.outbox;

import dev.postrider.error.InvalidMessageException;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.Payload;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The properties that show whether a live message and a new message with the same id are the same message.
 *
 * @param key the idempotency key
 */
public record LiveMessage(
        int topicId, @Nullable String tenant, @Nullable String key, Payload payload) {

    public static LiveMessage of(NewRow row) {
        Message message = row.message();
        return new LiveMessage(row.topicId(), message.tenant(), message.idempotencyKey(), message.payload());
    }

    boolean samePayload(LiveMessage other) {
        return Arrays.equals(payload.bytes(), other.payload.bytes());
    }

    /** An idempotency key identifies its message, whatever the payload. Without a key the payloads must be equal. */
    boolean isSameMessage(LiveMessage other) {
        return topicId == other.topicId
                && Objects.equals(tenant, other.tenant)
                && Objects.equals(key, other.key)
                && (key != null || samePayload(other));
    }

    static Map<UUID, LiveMessage> read(ResultSet rows, SqlRunner sql) throws SQLException {
        Map<UUID, LiveMessage> live = new HashMap<>();
        while (rows.next()) {
            live.put(
                    sql.readUuid(rows, "id"),
                    new LiveMessage(
                            rows.getInt("topic_id"),
                            rows.getString("tenant"),
                            rows.getString("idempotency_key"),
                            Payload.of(payload(rows, sql), Payload.BINARY)));
        }
        return live;
    }

    /** A payload that cannot be read stays as it is stored, and is no payload of a new message. */
    private static byte[] payload(ResultSet row, SqlRunner sql) throws SQLException {
        byte[] column = row.getBytes("payload");
        try {
            return MessageAttributes.read(row.getString("attributes")).payload(column, sql.maxPayloadBytes());
        } catch (InvalidMessageException | IllegalArgumentException e) {
            return column;
        }
    }
}
