package dev.postrider.jdbc;

import dev.postrider.admin.Admin;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage;
import dev.postrider.admin.TopicStatus;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnknownTopicException;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
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

    private static final String DISCARD = "DELETE FROM {message} WHERE id = ? AND state = 'DEAD'";

    private static final String DEAD_LETTERS = """
            SELECT m.* FROM {message} m JOIN {topic} t ON t.id = m.topic_id
            WHERE t.namespace = ? AND t.topic = ? AND m.state = 'DEAD' AND m.seq > ?
            ORDER BY m.seq LIMIT ?
            """;

    private static final String LIVE = "SELECT * FROM {message} WHERE id = ?";

    private static final String ARCHIVED = "SELECT * FROM {archive} WHERE id = ? ORDER BY delivered_at DESC LIMIT 1";

    private static final String PAUSE = "UPDATE {topic} SET paused = ? WHERE namespace = ? AND topic = ?";

    private static final String TOPIC = "SELECT 1 FROM {topic} WHERE namespace = ? AND topic = ?";

    private static final String AUDIT =
            "INSERT INTO {audit} (at, operator, action, namespace, topic, message_id) VALUES ({now}, ?, ?, ?, ?, ?)";

    private static final int LIST_LIMIT = 1000;

    private final Sessions sessions;
    private final Dialect dialect;

    JdbcAdmin(Sessions sessions, Dialect dialect) {
        this.sessions = sessions;
        this.dialect = dialect;
    }

    @Override
    public List<TopicStatus> status() {
        return sessions.statement(
                "count messages", connection -> dialect.query(connection, STATUS, binder -> {}, this::statuses));
    }

    private List<TopicStatus> statuses(ResultSet row) throws SQLException {
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
        return sessions.statement(
                "list dead letters",
                connection -> dialect.query(
                        connection,
                        DEAD_LETTERS,
                        binder -> named(binder, topic).number(afterSeq).integer(limit),
                        row -> {
                            List<StoredMessage> dead = new ArrayList<>();
                            while (row.next()) {
                                dead.add(live(row));
                            }
                            return dead;
                        }));
    }

    @Override
    public Optional<StoredMessage> find(MessageId id) {
        return sessions.statement("find a message", connection -> {
            Optional<StoredMessage> live = find(connection, LIVE, id, this::live);
            return live.isPresent() ? live : find(connection, ARCHIVED, id, this::archived);
        });
    }

    private Optional<StoredMessage> find(
            Connection connection, String select, MessageId id, Dialect.Read<StoredMessage> read) throws SQLException {
        return dialect.query(
                connection,
                select,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(read.from(row)) : Optional.empty());
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
        return repair("DISCARD", DISCARD, id, operator);
    }

    /** The change is conditional, so two operators at once make one change and one entry in the audit. */
    private Repair repair(String action, String change, MessageId id, String operator) {
        return sessions.transaction(action, connection -> {
            Optional<StoredMessage> found = find(connection, LIVE, id, this::live);
            if (found.isEmpty()) {
                return Repair.NOT_FOUND;
            }
            if (dialect.update(connection, change, binder -> binder.uuid(id.value())) != 1) {
                return Repair.NOT_DEAD;
            }
            audit(connection, operator, action, found.get().message().topic(), id);
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
        sessions.transaction(action, connection -> {
            int met = dialect.update(connection, PAUSE, binder -> named(binder.flag(paused), topic));
            // Some drivers count changed rows instead of matched ones, so a second pause may count none.
            if (met == 0 && !dialect.query(connection, TOPIC, binder -> named(binder, topic), ResultSet::next)) {
                throw new UnknownTopicException(topic.toString());
            }
            audit(connection, operator, action, topic, null);
            return true;
        });
    }

    private void audit(Connection connection, String operator, String action, TopicName topic, @Nullable MessageId id)
            throws SQLException {
        if (operator.isBlank() || operator.length() > 255) {
            throw new InvalidConfigurationException("operator", "must be a name of 1 to 255 characters");
        }
        dialect.update(connection, AUDIT, binder -> {
            named(binder.text(operator).text(action), topic);
            if (id == null) {
                binder.none();
            } else {
                binder.uuid(id.value());
            }
        });
    }

    private static Binder named(Binder binder, TopicName topic) throws SQLException {
        return binder.text(topic.namespace()).text(topic.topic());
    }
}
