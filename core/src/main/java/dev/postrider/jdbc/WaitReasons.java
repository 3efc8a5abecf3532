package dev.postrider.jdbc;

import dev.postrider.admin.Filter;
import dev.postrider.admin.MessageDetail.Wait;
import dev.postrider.admin.MessageDetail.WaitCause;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds out what a message of the live table waits for. */
final class WaitReasons {

    private static final String ROW = """
            SELECT m.seq, m.id, m.state, m.topic_id, m.lane, m.tenant, m.ordering_key, m.available_at, m.locked_until,
                   t.namespace, t.topic AS topic_name, t.paused, {now} AS now
            FROM {message} m JOIN {topic} t ON t.id = m.topic_id WHERE m.id = ?
            """;

    private static final String DUE = "SELECT available_at FROM {message} WHERE seq = ?";

    /** The message of the key that was written last before this one, among the last rows of the lane before it. */
    private static final String EARLIER = """
            SELECT e.id
            FROM (SELECT m.seq, m.id, m.tenant, m.ordering_key FROM {message} m
                  WHERE m.state = 'PENDING' AND m.topic_id = ? AND m.lane = ? AND m.seq < ?
                  ORDER BY m.seq DESC LIMIT ?) e
            WHERE e.ordering_key = ? AND (e.tenant = ? OR e.tenant IS NULL AND ? = 1)
            ORDER BY e.seq DESC LIMIT 1
            """;

    private record WaitingRow(
            @Nullable RowState state,
            LaneKeys.@Nullable Row inLane,
            TopicName topic,
            boolean paused,
            @Nullable Instant due,
            @Nullable Instant leaseEnd,
            @Nullable Instant now) {}

    private final SqlRunner sql;
    private final LaneKeys keys;

    WaitReasons(SqlRunner sql) {
        this.sql = sql;
        this.keys = new LaneKeys(sql);
    }

    /** @param delivered the topics that a live node delivers */
    List<Wait> of(Connection connection, MessageId id, Set<TopicName> delivered) throws SQLException {
        Optional<WaitingRow> found = sql.query(
                connection,
                ROW,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(row(row)) : Optional.empty());
        return found.isEmpty() ? List.of() : of(connection, found.get(), delivered);
    }

    private WaitingRow row(ResultSet row) throws SQLException {
        return new WaitingRow(
                RowState.find(row.getString("state")).orElse(null),
                keys.ordered(row),
                new TopicName(row.getString("namespace"), row.getString("topic_name")),
                row.getBoolean("paused"),
                sql.readTimeIfValid(row, "available_at"),
                sql.readTimeIfValid(row, "locked_until"),
                sql.readTime(row, "now"));
    }

    private List<Wait> of(Connection connection, WaitingRow row, Set<TopicName> delivered) throws SQLException {
        List<Wait> waits = new ArrayList<>();
        if (row.state() == null || row.state() == RowState.DEAD || row.state() == RowState.PARKED) {
            waits.add(new Wait(WaitCause.OPERATOR, null, null));
        } else if (row.state() == RowState.PROCESSING) {
            waits.add(new Wait(WaitCause.DELIVERY, row.leaseEnd(), null));
        } else {
            if (row.paused()) {
                waits.add(new Wait(WaitCause.PAUSED_TOPIC, null, null));
            }
            if (!delivered.contains(row.topic())) {
                waits.add(new Wait(WaitCause.NO_NODE, null, null));
            }
            LaneKeys.Row inLane = row.inLane();
            if (inLane != null && row.state() != RowState.SCHEDULED) {
                addEarlier(connection, waits, inLane);
            }
            Instant due = row.due();
            if (row.state() != RowState.BLOCKED && due != null && row.now() != null && due.isAfter(row.now())) {
                waits.add(new Wait(WaitCause.DUE_TIME, due, null));
            }
        }
        return waits;
    }

    private void addEarlier(Connection connection, List<Wait> waits, LaneKeys.Row row) throws SQLException {
        Optional<LaneKeys.Row> head = keys.head(connection, row.topicId(), row.lane(), row.key());
        if (head.isPresent() && head.get().seq() < row.seq()) {
            boolean parked = head.get().state() == RowState.PARKED;
            Instant next = parked ? null : due(connection, head.get().seq());
            waits.add(new Wait(WaitCause.BLOCKED_KEY, next, head.get().id()));
        } else if (row.state() == RowState.PENDING) {
            earlier(connection, row).ifPresent(id -> waits.add(new Wait(WaitCause.EARLIER_MESSAGE, null, id)));
        }
    }

    private @Nullable Instant due(Connection connection, long seq) throws SQLException {
        Optional<Instant> due = sql.query(
                connection,
                DUE,
                binder -> binder.number(seq),
                row -> row.next() ? Optional.ofNullable(sql.readTimeIfValid(row, "available_at")) : Optional.empty());
        return due.orElse(null);
    }

    private Optional<MessageId> earlier(Connection connection, LaneKeys.Row row) throws SQLException {
        return sql.query(
                connection,
                EARLIER,
                binder -> binder.integer(row.topicId())
                        .integer(row.lane())
                        .number(row.seq())
                        .integer(Filter.EXAMINED)
                        .text(row.key().key())
                        .text(row.key().tenant())
                        .integer(row.key().tenant() == null ? 1 : 0),
                found -> found.next() ? Optional.of(new MessageId(sql.readUuid(found, "id"))) : Optional.empty());
    }
}
