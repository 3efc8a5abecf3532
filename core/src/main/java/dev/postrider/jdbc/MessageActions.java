package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.Repair;
import dev.postrider.admin.StoredMessage.State;
import dev.postrider.jdbc.outbox.MessageCancellation;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.DeadReason;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Operators' actions on messages. Every statement checks the state that the message leaves. The messages of ordered topics are changed by
 * {@link BlockedKeys}.
 */
final class MessageActions {

    static final String REPLAY = """
            UPDATE {message}{by key}
            SET state = 'PENDING', attempts = 0, crashes = 0, available_at = {now}, reason = NULL, fingerprint = NULL,
                updated_at = {now}
            WHERE state = 'DEAD' AND (reason IS NULL OR reason NOT IN ('EXPIRED', 'CANCELLED')) AND seq IN ({values})
            """;

    static final String DISCARD = "{delete message} WHERE state = 'DEAD' AND seq IN ({values})";

    static final String RETRY = """
            UPDATE {message}{by key} SET available_at = {now}, updated_at = {now}
            WHERE state = 'PENDING' AND available_at > {now} AND seq IN ({values})
            """;

    static final String BURY = """
            UPDATE {message}{by key} SET state = 'DEAD', reason = ?, updated_at = {now}
            WHERE state = 'PENDING' AND attempts > 0 AND seq IN ({values})
            """;

    static final String CANCEL = """
            UPDATE {message}{by key} SET state = 'DEAD', reason = ?, updated_at = {now}
            WHERE state = 'PENDING' AND seq IN ({values})
            """;

    private static final String ROWS = """
            SELECT m.seq, m.id, m.state, m.reason, m.attempts, m.available_at, m.topic_id, m.lane, m.tenant, m.ordering_key,
                   t.namespace, t.topic AS topic_name, {now} AS now
            FROM {message} m JOIN {topic} t ON t.id = m.topic_id
            """;

    private static final String ONE = ROWS + "WHERE m.id = ?";

    private static final String MANY = ROWS + "WHERE m.seq IN ({values}) ORDER BY m.seq";

    /**
     * @param reason why the message is dead or parked
     * @param inLane null for a message of an unordered topic
     */
    record ActionRow(
            long seq,
            MessageId id,
            State state,
            @Nullable String reason,
            TopicName topic,
            LaneKeys.@Nullable Row inLane) {

        /** Whether the sender decided that the message must not be delivered any more. */
        private boolean isFinal() {
            return state == State.DEAD
                    && (DeadReason.EXPIRED.name().equals(reason)
                            || DeadReason.CANCELLED.name().equals(reason));
        }
    }

    private final SqlRunner sql;
    private final BlockedKeys blockedKeys;
    private final AuditLog audit;
    private final MessageCancellation cancellation;

    MessageActions(SqlRunner sql, BlockedKeys blockedKeys, AuditLog audit) {
        this.sql = sql;
        this.blockedKeys = blockedKeys;
        this.audit = audit;
        this.cancellation = new MessageCancellation(sql);
    }

    /** Changes one message. The change is conditional, so two concurrent operators make one change and one entry in the audit. */
    Repair apply(Connection connection, Action action, MessageId id, Change change) throws SQLException {
        Optional<ActionRow> found = sql.query(
                connection,
                ONE,
                binder -> binder.uuid(id.value()),
                row -> row.next() ? Optional.of(row(row)) : Optional.empty());
        if (found.isEmpty()) {
            boolean delivered = action == Action.CANCEL && cancellation.isArchived(connection, id);
            return delivered ? Repair.WRONG_STATE : Repair.NOT_FOUND;
        }
        ActionRow row = found.get();
        boolean unexpected = change.expected() != null && change.expected() != row.state();
        Repair repair = unexpected ? Repair.WRONG_STATE : applyInState(connection, action, row);
        if (repair == Repair.DONE) {
            audit.record(connection, change, action.name(), row.topic(), id);
        } else {
            connection.rollback();
        }
        return repair;
    }

    /** Cancels the message that was written with an idempotency key. */
    Repair cancel(
            Connection connection,
            Topics.RegisteredTopic topic,
            @Nullable String tenant,
            String idempotencyKey,
            Change change)
            throws SQLException {
        Optional<MessageId> id = cancellation.find(connection, topic, tenant, idempotencyKey);
        if (id.isEmpty()) {
            return Repair.NOT_FOUND;
        }
        Repair repair = apply(connection, Action.CANCEL, id.get(), change);
        return repair == Repair.NOT_FOUND ? Repair.WRONG_STATE : repair; // its mark shows that it existed
    }

    private Repair applyInState(Connection connection, Action action, ActionRow row) throws SQLException {
        if (action == Action.CANCEL && row.state() == State.PROCESSING) {
            return Repair.BUSY;
        }
        if (!action.states().contains(row.state()) || (action == Action.REPLAY && row.isFinal())) {
            return Repair.WRONG_STATE;
        }
        return apply(connection, action, row);
    }

    private Repair apply(Connection connection, Action action, ActionRow row) throws SQLException {
        LaneKeys.Row inLane = row.inLane();
        if (inLane != null) {
            return inLane(connection, action, inLane);
        }
        if (action == Action.CANCEL) {
            return BlockedKeys.repair(cancellation.cancelPending(connection, row.seq()));
        }
        return unordered(connection, action, List.of(row.seq())) == 1 ? Repair.DONE : Repair.WRONG_STATE;
    }

    Repair inLane(Connection connection, Action action, LaneKeys.Row row) throws SQLException {
        return blockedKeys.apply(connection, action, row);
    }

    /** Changes messages of unordered topics. Returns how many were in a state that the action changes. */
    int unordered(Connection connection, Action action, Collection<Long> seqs) throws SQLException {
        String statement = switch (action) {
            case REPLAY -> REPLAY;
            case DISCARD -> DISCARD;
            case RETRY -> RETRY;
            case BURY -> BURY;
            case PARK, REDELIVER, REDELIVER_AS_NEW -> null;
            case CANCEL -> CANCEL;
        };
        if (statement == null || seqs.isEmpty()) {
            return 0;
        }
        return sql.update(connection, ValueList.in(statement, seqs.size()), binder -> {
            if (action == Action.BURY) {
                binder.text(DeadReason.BURIED.name());
            } else if (action == Action.CANCEL) {
                binder.text(DeadReason.CANCELLED.name());
            }
            ValueList.bindNumbers(binder, seqs);
        });
    }

    /** Reads what an action needs of these messages, in the order of their numbers. */
    List<ActionRow> rows(Connection connection, List<Long> seqs) throws SQLException {
        return sql.query(
                connection, ValueList.in(MANY, seqs.size()), binder -> ValueList.bindNumbers(binder, seqs), found -> {
                    List<ActionRow> rows = new ArrayList<>();
                    while (found.next()) {
                        rows.add(row(found));
                    }
                    return rows;
                });
    }

    private ActionRow row(ResultSet row) throws SQLException {
        return new ActionRow(
                row.getLong("seq"),
                new MessageId(sql.readUuid(row, "id")),
                MessageStates.read(row, sql),
                row.getString("reason"),
                new TopicName(row.getString("namespace"), row.getString("topic_name")),
                blockedKeys.ordered(row));
    }
}
