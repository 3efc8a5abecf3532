package dev.postrider.jdbc;

import dev.postrider.admin.FailedAttempt;
import dev.postrider.admin.StoredMessage;
import dev.postrider.internal.store.StorageOptions;
import dev.postrider.jdbc.inbox.InboxEnvelope;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads whole messages for operators, with their payloads. */
final class StoredMessages {

    private static final String DEAD_LETTERS = """
            SELECT m.*, t.namespace, t.topic AS topic_name, {now} AS now FROM {message} m JOIN {topic} t ON t.id = m.topic_id
            WHERE t.namespace = ? AND t.topic = ? AND m.state = 'DEAD' AND m.seq > ?
            ORDER BY m.seq LIMIT ?
            """;

    private static final String LIVE = """
            SELECT m.*, t.namespace, t.topic AS topic_name, {now} AS now FROM {message} m JOIN {topic} t ON t.id = m.topic_id
            WHERE m.id = ?
            """;

    private static final String ARCHIVED = """
            SELECT a.*, t.namespace, t.topic AS topic_name FROM {archive} a JOIN {topic} t ON t.id = a.topic_id
            WHERE a.id = ? ORDER BY a.delivered_at DESC LIMIT 1
            """;

    private static final String LIVE_HISTORY = "SELECT failed_attempts FROM {message} WHERE id = ?";

    private static final String ARCHIVED_HISTORY =
            "SELECT failed_attempts FROM {archive} WHERE id = ? ORDER BY delivered_at DESC LIMIT 1";

    private final SqlRunner sql;
    private final @Nullable StorageOptions ciphers;

    /** @param ciphers decrypt the payloads; null to show them as encrypted */
    StoredMessages(SqlRunner sql, @Nullable StorageOptions ciphers) {
        this.sql = sql;
        this.ciphers = ciphers;
    }

    List<StoredMessage> deadLetters(Connection connection, TopicName topic, long afterSeq, int limit)
            throws SQLException {
        return sql.query(
                connection,
                DEAD_LETTERS,
                binder -> binder.text(topic.namespace())
                        .text(topic.topic())
                        .number(afterSeq)
                        .integer(limit),
                row -> {
                    List<StoredMessage> dead = new ArrayList<>();
                    while (row.next()) {
                        dead.add(live(row));
                    }
                    return dead;
                });
    }

    Optional<StoredMessage> find(Connection connection, MessageId id) throws SQLException {
        Optional<StoredMessage> live = find(connection, LIVE, id, this::live);
        return live.isPresent() ? live : find(connection, ARCHIVED, id, this::archived);
    }

    /** Returns the failed attempts of the message that {@link #find} finds. */
    List<FailedAttempt> failedAttempts(Connection connection, MessageId id) throws SQLException {
        Optional<List<FailedAttempt>> live = history(connection, LIVE_HISTORY, id);
        return live.isPresent()
                ? live.get()
                : history(connection, ARCHIVED_HISTORY, id).orElse(List.of());
    }

    private Optional<List<FailedAttempt>> history(Connection connection, String select, MessageId id)
            throws SQLException {
        return sql.query(
                connection,
                select,
                binder -> binder.uuid(id.value()),
                row -> row.next()
                        ? Optional.of(AttemptHistory.read(row.getString("failed_attempts")))
                        : Optional.empty());
    }

    private Optional<StoredMessage> find(
            Connection connection, String select, MessageId id, SqlRunner.Read<StoredMessage> read)
            throws SQLException {
        return sql.query(
                connection,
                select,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(read.from(row)) : Optional.empty());
    }

    private StoredMessage live(ResultSet row) throws SQLException {
        ShownMessage shown = ShownMessage.read(row, sql, ciphers);
        return new StoredMessage(
                row.getLong("seq"),
                shown.message(),
                InboxEnvelope.receivedId(shown.message()),
                MessageStates.read(row, sql),
                row.getInt("attempts"),
                row.getInt("crashes"),
                time(row, "available_at"),
                null,
                row.getString("locked_by"),
                shown.problem() == null ? row.getString("last_error") : shown.problem(),
                row.getString("reason"),
                row.getString("fingerprint"),
                time(row, "created_at"));
    }

    private StoredMessage archived(ResultSet row) throws SQLException {
        Message message = ShownMessage.read(row, sql, ciphers).message();
        Instant due = message.deliverAt();
        return new StoredMessage(
                row.getLong("seq"),
                message,
                InboxEnvelope.receivedId(message),
                StoredMessage.State.DELIVERED,
                row.getInt("attempts"),
                row.getInt("crashes"),
                due == null ? time(row, "created_at") : due,
                time(row, "delivered_at"),
                null,
                null,
                null,
                null,
                time(row, "created_at"));
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        @Nullable Instant time = sql.readTimeIfValid(row, column);
        return time == null ? Instant.EPOCH : time;
    }
}
