package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads and repairs over JDBC. */
final class JdbcAdmin implements Admin {

    private static final String STATUS = """
            SELECT t.namespace, t.topic, t.paused,
                   COUNT(CASE WHEN m.state = 'PENDING' AND m.attempts = 0 AND m.available_at <= {now} THEN 1 END) AS waiting,
                   COUNT(CASE WHEN m.state = 'PENDING' AND m.attempts = 0 AND m.available_at > {now} THEN 1 END) AS scheduled,
                   COUNT(CASE WHEN m.state = 'PENDING' AND m.attempts > 0 THEN 1 END) AS retrying,
                   COUNT(CASE WHEN m.state = 'PROCESSING' THEN 1 END) AS processing,
                   COUNT(CASE WHEN m.state = 'DEAD' THEN 1 END) AS dead,
                   MIN(CASE WHEN m.state = 'PROCESSING' OR m.state = 'PENDING' AND m.available_at <= {now}
                            THEN m.created_at END) AS oldest,
                   {now} AS now
            FROM {topic} t LEFT JOIN {message} m ON m.topic_id = t.id
            GROUP BY t.namespace, t.topic, t.paused
            ORDER BY t.namespace, t.topic
            """;

    private static final String REPLAY = """
            UPDATE {message}
            SET state = 'PENDING', attempts = 0, crashes = 0, available_at = {now}, reason = NULL, fingerprint = NULL,
                updated_at = {now}
            WHERE id = ? AND state = 'DEAD'
            """;

    private static final int LIST_LIMIT = 1000;

    private final Sessions sessions;
    private final Dialect dialect;

    JdbcAdmin(Sessions sessions, Dialect dialect) {
        this.sessions = sessions;
        this.dialect = dialect;
    }

    @Override
    public List<TopicStatus> status() {
        return sessions.statement("count messages", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(dialect.sql(STATUS));
                    ResultSet row = statement.executeQuery()) {
                List<TopicStatus> topics = new ArrayList<>();
                while (row.next()) {
                    topics.add(new TopicStatus(
                            new TopicName(row.getString("namespace"), row.getString("topic")),
                            row.getBoolean("paused"),
                            row.getLong("waiting"),
                            row.getLong("scheduled"),
                            row.getLong("retrying"),
                            row.getLong("processing"),
                            row.getLong("dead"),
                            age(dialect.readTime(row, "oldest"), dialect.readTime(row, "now"))));
                }
                return topics;
            }
        });
    }

    private static Duration age(@Nullable Instant oldest, @Nullable Instant now) {
        if (oldest == null || now == null || now.isBefore(oldest)) {
            return Duration.ZERO;
        }
        return Duration.between(oldest, now);
    }

    @Override
    public List<StoredMessage> deadLetters(TopicName topic, long afterSeq, int limit) {
        if (limit < 1 || limit > LIST_LIMIT) {
            throw new InvalidConfigurationException("limit", "must be 1 to " + LIST_LIMIT + ", but is " + limit);
        }
        String query = dialect.sql("""
                SELECT m.* FROM {message} m JOIN {topic} t ON t.id = m.topic_id
                WHERE t.namespace = ? AND t.topic = ? AND m.state = 'DEAD' AND m.seq > ?
                ORDER BY m.seq LIMIT ?
                """);
        return sessions.statement("list dead letters", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(query)) {
                dialect.bind(statement)
                        .text(topic.namespace())
                        .text(topic.topic())
                        .number(afterSeq)
                        .integer(limit);
                try (ResultSet row = statement.executeQuery()) {
                    List<StoredMessage> dead = new ArrayList<>();
                    while (row.next()) {
                        dead.add(live(row));
                    }
                    return dead;
                }
            }
        });
    }

    @Override
    public Optional<StoredMessage> find(MessageId id) {
        return sessions.statement("find a message", connection -> {
            Optional<StoredMessage> live = find(connection, "SELECT * FROM {message} WHERE id = ?", id, this::live);
            return live.isPresent()
                    ? live
                    : find(
                            connection,
                            "SELECT * FROM {archive} WHERE id = ? ORDER BY delivered_at DESC LIMIT 1",
                            id,
                            this::archived);
        });
    }

    @FunctionalInterface
    private interface Reader {
        StoredMessage read(ResultSet row) throws SQLException;
    }

    private Optional<StoredMessage> find(Connection connection, String query, MessageId id, Reader reader)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(dialect.sql(query))) {
            dialect.bind(statement).uuid(id.value());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(reader.read(row)) : Optional.empty();
            }
        }
    }

    private StoredMessage live(ResultSet row) throws SQLException {
        return new StoredMessage(
                row.getLong("seq"),
                ClaimedRow.readMessage(row, dialect),
                StoredMessage.State.valueOf(row.getString("state")),
                row.getInt("attempts"),
                row.getInt("crashes"),
                time(row, "available_at"),
                row.getString("locked_by"),
                row.getString("last_error"),
                row.getString("reason"),
                row.getString("fingerprint"),
                time(row, "created_at"));
    }

    private StoredMessage archived(ResultSet row) throws SQLException {
        return new StoredMessage(
                row.getLong("seq"),
                ClaimedRow.readMessage(row, dialect),
                StoredMessage.State.DELIVERED,
                row.getInt("attempts"),
                row.getInt("crashes"),
                time(row, "delivered_at"),
                null,
                null,
                null,
                null,
                time(row, "created_at"));
    }

    private Instant time(ResultSet row, String column) throws SQLException {
        Instant time = dialect.readTime(row, column);
        return time == null ? Instant.EPOCH : time;
    }

    @Override
    public Repair replay(MessageId id, String operator) {
        return repair("REPLAY", REPLAY, id, operator);
    }

    @Override
    public Repair discard(MessageId id, String operator) {
        return repair("DISCARD", "DELETE FROM {message} WHERE id = ? AND state = 'DEAD'", id, operator);
    }

    /** The change is conditional, so two operators at once make one change and one entry in the audit. */
    private Repair repair(String action, String change, MessageId id, String operator) {
        return sessions.transaction(action, connection -> {
            Optional<StoredMessage> found = find(connection, "SELECT * FROM {message} WHERE id = ?", id, this::live);
            if (found.isEmpty()) {
                return Repair.NOT_FOUND;
            }
            try (PreparedStatement statement = connection.prepareStatement(dialect.sql(change))) {
                dialect.bind(statement).uuid(id.value());
                if (statement.executeUpdate() != 1) {
                    return Repair.NOT_DEAD;
                }
            }
            Message message = found.get().message();
            audit(connection, operator, action, message.topic(), id);
            return Repair.DONE;
        });
    }

    @Override
    public void pause(TopicName topic, String operator) {
        setPaused(topic, true, operator);
    }

    @Override
    public void resume(TopicName topic, String operator) {
        setPaused(topic, false, operator);
    }

    private void setPaused(TopicName topic, boolean paused, String operator) {
        String action = paused ? "PAUSE" : "RESUME";
        String update = dialect.sql("UPDATE {topic} SET paused = ? WHERE namespace = ? AND topic = ?");
        sessions.transaction(action, connection -> {
            try (PreparedStatement statement = connection.prepareStatement(update)) {
                dialect.bind(statement).flag(paused).text(topic.namespace()).text(topic.topic());
                // Some drivers count changed rows instead of matched ones, so a second pause may count none.
                if (statement.executeUpdate() == 0 && !exists(connection, topic)) {
                    throw new UnknownTopicException(topic.toString());
                }
            }
            audit(connection, operator, action, topic, null);
            return true;
        });
    }

    private boolean exists(Connection connection, TopicName topic) throws SQLException {
        String query = dialect.sql("SELECT 1 FROM {topic} WHERE namespace = ? AND topic = ?");
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            dialect.bind(statement).text(topic.namespace()).text(topic.topic());
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    private void audit(Connection connection, String operator, String action, TopicName topic, @Nullable MessageId id)
            throws SQLException {
        if (operator.isBlank() || operator.length() > 255) {
            throw new InvalidConfigurationException("operator", "must be a name of 1 to 255 characters");
        }
        String insert = dialect.sql(
                "INSERT INTO {audit} (at, operator, action, namespace, topic, message_id) VALUES ({now}, ?, ?, ?, ?, ?)");
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            Binder binder = dialect.bind(statement)
                    .text(operator)
                    .text(action)
                    .text(topic.namespace())
                    .text(topic.topic());
            if (id == null) {
                binder.none();
            } else {
                binder.uuid(id.value());
            }
            statement.executeUpdate();
        }
    }
}
