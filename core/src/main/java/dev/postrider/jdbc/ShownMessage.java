package dev.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.admin.StoredMessage;
import dev.postrider.encryption.CipherUnavailableException;
import dev.postrider.error.InvalidMessageException;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.outbox.SealedPayload;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.Payload;
import dev.postrider.message.TopicName;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A row as operators see it. A row that is not a valid message is shown with a stand-in, so that operators can find and discard it, and
 * the other rows of a list stay visible. A marker stands for an encrypted payload, unless the ciphers are given.
 *
 * @param problem why the row is not a valid message; null for a valid one
 */
record ShownMessage(Message message, @Nullable String problem) {

    /** The last second that a message can have as its time. */
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    /** @param ciphers decrypt the payloads; null to show them as encrypted */
    static ShownMessage read(ResultSet row, SqlRunner sql, @Nullable StorageOptions ciphers) throws SQLException {
        TopicName topic = new TopicName(row.getString("namespace"), row.getString("topic_name"));
        RowReader reader = new RowReader(row, sql, topic);
        try {
            return new ShownMessage(shown(reader.read(reader.id()), ciphers), null);
        } catch (InvalidMessageException | IllegalArgumentException e) {
            return new ShownMessage(
                    standIn(row, sql, topic, new MessageId(reader.id())),
                    "The row makes no message: " + e.getMessage());
        }
    }

    private static Message shown(ReadMessage read, @Nullable StorageOptions ciphers) {
        SealedPayload sealed = read.sealed();
        if (sealed == null) {
            return read.message();
        }
        String problem = "";
        if (ciphers != null) {
            try {
                return read.open(
                        ciphers.cipher(sealed.topic()), ciphers.tables().maxPayloadBytes());
            } catch (CipherUnavailableException | IllegalArgumentException e) {
                problem = ": " + e.getMessage();
            }
        }
        byte[] marker = (sealed.shown() + problem).getBytes(UTF_8);
        return read.withPayload().apply(Payload.of(marker, StoredMessage.ENCRYPTED_CONTENT_TYPE));
    }

    private static Message standIn(ResultSet row, SqlRunner sql, TopicName topic, MessageId id) throws SQLException {
        byte[] bytes = row.getBytes("payload");
        Instant created = sql.readTimeIfValid(row, row.findColumn("created_at"));
        return Message.to(topic)
                .id(id)
                .type(StoredMessage.UNREADABLE_TYPE)
                .occurredAt(created == null ? Instant.EPOCH : possible(created))
                .payload(Payload.of(bytes == null ? new byte[0] : bytes, "application/octet-stream"))
                .build();
    }

    /** Returns the nearest time that a message can have: no time of the row may make the stand-in invalid too. */
    private static Instant possible(Instant time) {
        if (time.isBefore(Instant.EPOCH)) {
            return Instant.EPOCH;
        }
        return time.isAfter(LATEST) ? LATEST : time;
    }
}
