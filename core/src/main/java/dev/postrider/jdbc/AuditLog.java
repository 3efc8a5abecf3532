package dev.postrider.jdbc;

import dev.postrider.admin.AuditEntry;
import dev.postrider.admin.Change;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The audit table: one row for each change by an operator, written in the transaction of the change. Thread-safe. */
final class AuditLog {

    private static final String INSERT = """
            INSERT INTO {audit} (at, operator, action, namespace, topic, message_id, filter_text, reason, changed, skipped)
            VALUES ({now}, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """;

    private static final String LIST = """
            SELECT a.id, a.at, a.operator, a.action, a.namespace, a.topic, a.message_id, a.filter_text, a.reason, a.changed, a.skipped
            FROM {audit} a WHERE a.id < ? ORDER BY a.id DESC LIMIT ?
            """;

    private final SqlRunner sql;

    AuditLog(SqlRunner sql) {
        this.sql = sql;
    }

    /** Records a change of one thing: a message, a topic, or neither. */
    void record(
            Connection connection, Change change, String action, @Nullable TopicName topic, @Nullable MessageId message)
            throws SQLException {
        sql.update(connection, INSERT, binder -> {
            binder.text(change.operator())
                    .text(action)
                    .text(topic == null ? "" : topic.namespace())
                    .text(topic == null ? "" : topic.topic());
            if (message == null) {
                binder.none();
            } else {
                binder.uuid(message.value());
            }
            binder.text(null).text(change.reason()).numberOrNone(null).numberOrNone(null);
        });
    }

    /** What one transaction of a change by filter did. */
    record FilteredChange(Filter filter, int changed, int skipped) {}

    /** Records one transaction of a change by filter. */
    void record(Connection connection, Change change, String action, FilteredChange done) throws SQLException {
        insert(connection, change, action, done.filter().toString(), done);
    }

    /** Records the start or the end of a background operation, with its counts until then. */
    void record(Connection connection, Change change, String action, OperationRow row) throws SQLException {
        Operation operation = row.operation();
        String text = "operation=" + operation.id() + " action=" + operation.action() + " " + operation.filter();
        FilteredChange done = new FilteredChange(filter(row), capped(operation.changed()), capped(operation.skipped()));
        insert(connection, change, action, text, done);
    }

    private static Filter filter(OperationRow row) {
        try {
            return row.filter();
        } catch (IllegalArgumentException e) {
            return Filter.all(); // of a later version: its topic is not known here
        }
    }

    private static int capped(long count) {
        return (int) Math.min(count, Integer.MAX_VALUE);
    }

    private void insert(Connection connection, Change change, String action, String filter, FilteredChange done)
            throws SQLException {
        TopicName topic = done.filter().conditions().stream()
                .filter(Filter.InTopic.class::isInstance)
                .map(condition -> ((Filter.InTopic) condition).name())
                .findFirst()
                .orElse(null);
        sql.update(
                connection,
                INSERT,
                binder -> binder.text(change.operator())
                        .text(action)
                        .text(topic == null ? "" : topic.namespace())
                        .text(topic == null ? "" : topic.topic())
                        .none()
                        .text(filter)
                        .text(change.reason())
                        .numberOrNone((long) done.changed())
                        .numberOrNone((long) done.skipped()));
    }

    List<AuditEntry> list(Connection connection, long before, int limit) throws SQLException {
        return sql.query(connection, LIST, binder -> binder.number(before).integer(limit), rows -> {
            List<AuditEntry> entries = new ArrayList<>();
            while (rows.next()) {
                entries.add(entry(rows));
            }
            return entries;
        });
    }

    private AuditEntry entry(ResultSet row) throws SQLException {
        Instant at = sql.readTime(row, "at");
        return new AuditEntry(
                row.getLong("id"),
                Objects.requireNonNull(at),
                row.getString("operator"),
                row.getString("action"),
                topic(row.getString("namespace"), row.getString("topic")),
                row.getObject("message_id") == null ? null : new MessageId(sql.readUuid(row, "message_id")),
                row.getString("filter_text"),
                row.getString("reason"),
                count(row, "changed"),
                count(row, "skipped"));
    }

    private static @Nullable String topic(String namespace, String topic) {
        if (topic.isEmpty()) {
            return null;
        }
        return namespace.equals(TopicName.DEFAULT_NAMESPACE) ? topic : namespace + "/" + topic;
    }

    private static @Nullable Integer count(ResultSet row, String column) throws SQLException {
        int count = row.getInt(column);
        return row.wasNull() ? null : count;
    }
}
