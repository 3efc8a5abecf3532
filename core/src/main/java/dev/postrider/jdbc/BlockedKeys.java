package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Repair;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.outbox.MessageCancellation;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.outbox.Cancellation;
import dev.postrider.store.DeadReason;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Operators' actions on the keys of ordered topics: list, retry, park, bury, replay and discard. Every action that changes a key locks the
 * lane first and raises its revision, so that the owner of the lane reloads before it writes another outcome.
 */
final class BlockedKeys {

    private static final String LIST = """
            SELECT h.seq, h.id, h.tenant, h.ordering_key, h.state, h.attempts, h.available_at, h.reason, h.last_error, h.updated_at,
                   (SELECT COUNT(*) FROM {message} b
                    WHERE b.topic_id = h.topic_id AND b.lane = h.lane AND b.ordering_key = h.ordering_key
                      AND b.state IN ('RETRY', 'BLOCKED', 'PARKED') AND (b.tenant = h.tenant OR b.tenant IS NULL AND h.tenant IS NULL)
                      AND b.seq > h.seq) AS behind
            FROM {message} h JOIN {topic} t ON t.id = h.topic_id
            WHERE t.namespace = ? AND t.topic = ? AND h.state IN ('RETRY', 'PARKED') AND h.seq > ?
              AND NOT EXISTS (
                  SELECT 1 FROM {message} w
                  WHERE w.topic_id = h.topic_id AND w.lane = h.lane AND w.ordering_key = h.ordering_key
                    AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND (w.tenant = h.tenant OR w.tenant IS NULL AND h.tenant IS NULL)
                    AND w.seq < h.seq)
            ORDER BY h.seq LIMIT ?
            """;

    private static final String REPLAY = """
            UPDATE {message}
            SET state = ?, attempts = 0, crashes = 0, available_at = {now}, reason = NULL, fingerprint = NULL, updated_at = {now}
            WHERE seq = ? AND state = ? AND (reason IS NULL OR reason NOT IN ('EXPIRED', 'CANCELLED'))
            """;

    /** Skips a row that a handler has locked. That row stays in state RETRY, which delays nothing. */
    private static final String LOCK_DUE_RETRY =
            "SELECT seq FROM {message} WHERE seq = ? AND state = 'RETRY' AND available_at <= {now} FOR UPDATE SKIP LOCKED";

    private static final String BLOCK_RETRY =
            "UPDATE {message} SET state = 'BLOCKED', updated_at = {now} WHERE seq = ? AND state = 'RETRY'";

    private static final String BURY = """
            UPDATE {message}
            SET state = 'DEAD', reason = CASE WHEN reason IS NULL OR reason = 'PARKED' THEN ? ELSE reason END, updated_at = {now}
            WHERE seq = ? AND state IN ('RETRY', 'BLOCKED', 'PARKED')
            """;

    /** A retrying message of a key that does not wait for it. */
    private static final String BURY_SCHEDULED =
            "UPDATE {message} SET state = 'DEAD', reason = ?, updated_at = {now} WHERE seq = ? AND state = 'SCHEDULED'";

    private static final String PARK =
            "UPDATE {message} SET state = 'PARKED', reason = ?, updated_at = {now} WHERE seq = ? AND state = 'RETRY'";

    private static final String DUE_NOW = """
            UPDATE {message} SET available_at = {now}, updated_at = {now}
            WHERE seq = ? AND state = 'SCHEDULED' AND available_at > {now}
            """;

    private static final String DELETE = "DELETE FROM {message} WHERE seq = ? AND state = ?";

    /** Whether no node owns the lane, so that none has read its messages. The lane is locked. */
    private static final String UNOWNED = "SELECT 1 FROM {lane} WHERE topic_id = ? AND lane = ? AND token IS NULL";

    private static final String STATE = "SELECT state FROM {message} WHERE seq = ?";

    /**
     * The result of an operator's action on a key.
     *
     * @param head the head of the key; null if the key is not blocked
     */
    record KeyChange(Repair repair, @Nullable MessageId head) {}

    private final SqlRunner sql;
    private final LaneKeys keys;
    private final MessageCancellation cancellation;

    BlockedKeys(SqlRunner sql) {
        this.sql = sql;
        this.keys = new LaneKeys(sql);
        this.cancellation = new MessageCancellation(sql);
    }

    /** Returns null for a message of an unordered topic, and for a row without an ordering key. */
    LaneKeys.@Nullable Row ordered(ResultSet row) throws SQLException {
        return keys.ordered(row);
    }

    List<BlockedKey> list(Connection connection, TopicName topic, long afterSeq, int limit) throws SQLException {
        return sql.query(
                connection,
                LIST,
                binder -> binder.text(topic.namespace())
                        .text(topic.topic())
                        .number(afterSeq)
                        .integer(limit),
                rows -> {
                    List<BlockedKey> found = new ArrayList<>();
                    while (rows.next()) {
                        found.add(blockedKey(rows, topic));
                    }
                    return found;
                });
    }

    private BlockedKey blockedKey(ResultSet row, TopicName topic) throws SQLException {
        boolean parked = RowState.read(row) == RowState.PARKED;
        Instant since = sql.readTime(row, "updated_at");
        return new BlockedKey(
                row.getLong("seq"),
                topic,
                row.getString("tenant"),
                row.getString("ordering_key"),
                new MessageId(sql.readUuid(row, "id")),
                row.getInt("attempts"),
                parked ? null : sql.readTime(row, "available_at"),
                row.getString("reason"),
                row.getString("last_error"),
                since == null ? Instant.EPOCH : since,
                row.getLong("behind"));
    }

    /** Changes a message that is in its state at the time of the call, unless it is locked. */
    Repair apply(Connection connection, Action action, LaneKeys.Row row) throws SQLException {
        keys.lock(connection, row.topicId(), row.lane());
        return switch (action) {
            case REPLAY -> replay(connection, row);
            case DISCARD -> discard(connection, row);
            case RETRY ->
                row.state() == RowState.SCHEDULED
                        ? changeScheduled(connection, row, DUE_NOW, binder -> binder.number(row.seq()))
                        : changeHead(connection, row, head -> retry(connection, head));
            case BURY ->
                row.state() == RowState.SCHEDULED
                        ? changeScheduled(
                                connection,
                                row,
                                BURY_SCHEDULED,
                                binder -> binder.text(DeadReason.BURIED.name()).number(row.seq()))
                        : changeHead(connection, row, head -> bury(connection, head));
            case PARK ->
                row.state() == RowState.RETRY
                        ? changeHead(connection, row, head -> park(connection, head))
                        : Repair.WRONG_STATE;
            case REDELIVER, REDELIVER_AS_NEW -> Repair.WRONG_STATE; // of the archive
            case CANCEL -> cancel(connection, row);
        };
    }

    /** The owner of the lane does not look at rows again before it delivers them: a message that it may have read is not changed. */
    private Repair cancel(Connection connection, LaneKeys.Row row) throws SQLException {
        MessageCancellation.KeyPlace place = new MessageCancellation.KeyPlace(row.topicId(), row.lane(), row.key());
        Cancellation answer;
        if (isUnowned(connection, row)) {
            answer = cancellation.cancelUnread(connection, row.seq(), row.state());
        } else if (row.state() == RowState.PENDING) {
            answer = Cancellation.MAY_BE_IN_DELIVERY;
        } else {
            answer = cancellation.cancelWaiting(connection, row.seq(), row.state(), place);
        }
        if (answer == Cancellation.CANCELLED && isInKey(row.state())) {
            return keys.promote(connection, row) ? Repair.DONE : Repair.BUSY;
        }
        return repair(answer);
    }

    private static boolean isInKey(RowState state) {
        return state == RowState.RETRY || state == RowState.BLOCKED || state == RowState.PARKED;
    }

    private boolean isUnowned(Connection connection, LaneKeys.Row row) throws SQLException {
        return sql.query(
                connection, UNOWNED, binder -> binder.integer(row.topicId()).integer(row.lane()), ResultSet::next);
    }

    /** What operators are told of a cancellation. */
    static Repair repair(Cancellation answer) {
        return switch (answer) {
            case CANCELLED -> Repair.DONE;
            case IN_DELIVERY, MAY_BE_IN_DELIVERY -> Repair.BUSY;
            case FINISHED -> Repair.WRONG_STATE;
            case NOT_FOUND -> Repair.NOT_FOUND;
        };
    }

    @FunctionalInterface
    private interface HeadChange {
        Repair to(LaneKeys.Row head) throws SQLException;
    }

    private Repair changeHead(Connection connection, LaneKeys.Row row, HeadChange change) throws SQLException {
        Optional<LaneKeys.Row> head = keys.head(connection, row.topicId(), row.lane(), row.key());
        boolean same =
                head.isPresent() && head.get().seq() == row.seq() && head.get().state() == row.state();
        return same ? change.to(head.get()) : Repair.WRONG_STATE;
    }

    private Repair changeScheduled(Connection connection, LaneKeys.Row row, String change, SqlRunner.Bind bind)
            throws SQLException {
        if (!keys.lockRow(connection, row)) {
            return notLocked(connection, row);
        }
        return sql.update(connection, change, bind) == 1 ? Repair.DONE : Repair.WRONG_STATE;
    }

    /** Makes the head of a key due now. */
    KeyChange retry(Connection connection, Topics.RegisteredTopic topic, OrderingKey key) throws SQLException {
        Optional<LaneKeys.Row> head = keys.head(connection, topic, key);
        return head.isEmpty()
                ? new KeyChange(Repair.NOT_FOUND, null)
                : new KeyChange(retry(connection, head.get()), head.get().id());
    }

    /** Makes the head due now. A parked head starts again with zero attempts. */
    private Repair retry(Connection connection, LaneKeys.Row head) throws SQLException {
        if (!keys.lockRow(connection, head)) {
            return Repair.BUSY;
        }
        keys.goOn(connection, head, head.state() == RowState.PARKED ? "0" : "attempts");
        return Repair.DONE;
    }

    /**
     * Makes the head of a key a dead letter.
     *
     * @param seen the head that the operator saw; the result is {@code NOT_FOUND} if the key has another head by now
     */
    KeyChange bury(Connection connection, Topics.RegisteredTopic topic, OrderingKey key, MessageId seen)
            throws SQLException {
        Optional<LaneKeys.Row> head =
                keys.head(connection, topic, key).filter(row -> row.id().equals(seen));
        return head.isEmpty()
                ? new KeyChange(Repair.NOT_FOUND, null)
                : new KeyChange(bury(connection, head.get()), head.get().id());
    }

    /** Makes the head a dead letter, so that the key continues with its next message. */
    private Repair bury(Connection connection, LaneKeys.Row head) throws SQLException {
        if (!keys.lockRow(connection, head)) {
            return Repair.BUSY;
        }
        int met = sql.update(
                connection,
                BURY,
                binder -> binder.text(DeadReason.BURIED.name()).number(head.seq()));
        SqlRunner.expect(1, met, "bury the head of a key");
        return keys.promote(connection, head) ? Repair.DONE : Repair.BUSY;
    }

    /** Keeps the head for an operator. Its key stays blocked, so no other message becomes the head. */
    private Repair park(Connection connection, LaneKeys.Row head) throws SQLException {
        if (!keys.lockRow(connection, head)) {
            return Repair.BUSY;
        }
        int met = sql.update(
                connection,
                PARK,
                binder -> binder.text(DeadReason.PARKED.name()).number(head.seq()));
        SqlRunner.expect(1, met, "park the head of a key");
        return Repair.DONE;
    }

    /**
     * Puts a dead or parked message back in its key. The message is blocked if an earlier message of the key waits. Otherwise it becomes
     * the head and is due now, and the former head is blocked behind it. Reads search by due time only among heads. So every row that a
     * read finds is a head, however many messages of one key are replayed.
     */
    private Repair replay(Connection connection, LaneKeys.Row row) throws SQLException {
        if (!keys.lockRow(connection, row)) {
            return notLocked(connection, row);
        }
        Optional<LaneKeys.Row> first = keys.head(connection, row.topicId(), row.lane(), row.key());
        boolean behind = first.isPresent() && first.get().seq() < row.seq();
        int met = sql.update(
                connection,
                REPLAY,
                binder -> binder.text((behind ? RowState.BLOCKED : RowState.RETRY).name())
                        .number(row.seq())
                        .text(row.state().name()));
        if (met == 0) {
            return Repair.WRONG_STATE; // it has expired or was cancelled
        }
        if (!behind && first.isPresent() && first.get().seq() > row.seq()) {
            blockDueRetry(connection, first.get());
        }
        return Repair.DONE;
    }

    private void blockDueRetry(Connection connection, LaneKeys.Row row) throws SQLException {
        if (sql.query(connection, LOCK_DUE_RETRY, binder -> binder.number(row.seq()), ResultSet::next)) {
            int met = sql.update(connection, BLOCK_RETRY, binder -> binder.number(row.seq()));
            SqlRunner.expect(1, met, "block a message behind a replayed message");
        }
    }

    /** Removes a dead or parked message. If the message was parked, its key continues. */
    private Repair discard(Connection connection, LaneKeys.Row row) throws SQLException {
        if (!keys.lockRow(connection, row)) {
            return notLocked(connection, row);
        }
        int met = sql.update(
                connection,
                DELETE,
                binder -> binder.number(row.seq()).text(row.state().name()));
        SqlRunner.expect(1, met, "discard a message");
        return row.state() != RowState.PARKED || keys.promote(connection, row) ? Repair.DONE : Repair.BUSY;
    }

    /** Returns {@code BUSY} if the row is unchanged and only locked. Otherwise another operator was faster: {@code WRONG_STATE}. */
    private Repair notLocked(Connection connection, LaneKeys.Row row) throws SQLException {
        boolean same = sql.query(
                connection,
                STATE,
                binder -> binder.number(row.seq()),
                found -> found.next() && row.state() == RowState.read(found));
        return same ? Repair.BUSY : Repair.WRONG_STATE;
    }
}
