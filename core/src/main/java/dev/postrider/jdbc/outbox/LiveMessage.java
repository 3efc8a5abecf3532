package dev.postrider.jdbc.outbox;

import dev.postrider.encryption.PayloadCipher;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The properties that show whether a live message and a new message with the same id are the same message.
 *
 * @param key the idempotency key
 * @param encrypted the attributes of the row if its payload is still encrypted; null for a clear payload
 */
public record LiveMessage(
        int topicId,
        @Nullable String tenant,
        @Nullable String key,
        Payload payload,
        @Nullable MessageAttributes encrypted) {

    private static final Logger log = LoggerFactory.getLogger(LiveMessage.class);

    public static LiveMessage of(NewRow row) {
        Message message = row.message();
        return new LiveMessage(row.topicId(), message.tenant(), message.idempotencyKey(), message.payload(), null);
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

    /**
     * Returns this message with its payload decrypted, if it may be the same message as the row. A payload that cannot be decrypted stays
     * as it is.
     *
     * @throws dev.postrider.encryption.CipherUnavailableException if it is not known whether it is the same message
     */
    LiveMessage opened(NewRow row, @Nullable PayloadCipher cipher, int maxPayloadBytes) {
        if (encrypted == null || key != null || topicId != row.topicId()) {
            return this;
        }
        SealedPayload.Binding place =
                new SealedPayload.Binding(row.message().id(), row.message().topic(), tenant);
        try {
            byte[] clear = encrypted.sealed(payload.bytes(), place).open(cipher, maxPayloadBytes);
            return new LiveMessage(topicId, tenant, null, Payload.of(clear, Payload.BINARY), null);
        } catch (IllegalArgumentException e) {
            return this;
        }
    }

    static Map<UUID, LiveMessage> read(ResultSet rows, SqlRunner sql) throws SQLException {
        Map<UUID, LiveMessage> live = new HashMap<>();
        while (rows.next()) {
            live.put(sql.readUuid(rows, "id"), readOne(rows, sql));
        }
        return live;
    }

    /** A payload that cannot be read stays as it is stored, and is no payload of a new message. */
    private static LiveMessage readOne(ResultSet row, SqlRunner sql) throws SQLException {
        byte[] payload = row.getBytes("payload");
        MessageAttributes encrypted = null;
        try {
            MessageAttributes attributes = MessageAttributes.read(row.getString("attributes"));
            if (attributes.isEncrypted()) {
                encrypted = attributes;
            } else {
                payload = attributes.payload(payload, sql.maxPayloadBytes());
            }
        } catch (InvalidMessageException | IllegalArgumentException e) {
            log.debug("The payload of a live message cannot be read: it is compared as it is stored", e);
        }
        return new LiveMessage(
                row.getInt("topic_id"),
                row.getString("tenant"),
                row.getString("idempotency_key"),
                Payload.of(payload, Payload.BINARY),
                encrypted);
    }
}
