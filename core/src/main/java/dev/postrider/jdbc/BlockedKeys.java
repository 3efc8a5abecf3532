package dev.postrider.jdbc;

import dev.postrider.admin.BlockedKey;
import dev.postrider.admin.Repair;
import dev.postrider.message.MessageId;
import dev.postrider.message.TopicName;
import dev.postrider.store.DeadReason;
import dev.postrider.store.OrderingKey;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Operators' actions on the keys of ordered topics: list, retry, bury, replay and discard. Every action that changes a key locks the
 * lane first and raises its revision, so that the owner of the lane reloads before it writes another outcome. The head of a key is its
 * lowest retrying, blocked or parked message. The class also promotes the next message of a key after the transaction of a handler
 * removed the head. No method waits for a message while it has locked the lane: a message is locked for as long as its handler runs.
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

    /** On PostgreSQL an UPDATE alone does not conflict with the lane locks of outcomes that are being written. */
    private static final String LOCK_LANE = "SELECT lane FROM {lane} WHERE topic_id = ? AND lane = ? FOR UPDATE";

    private static final String RAISE_REVISION =
            "UPDATE {lane} SET revision = revision + 1 WHERE topic_id = ? AND lane = ?";

    private static final String LOCK_ROW =
            "SELECT seq FROM {message}{by key} WHERE seq = ? AND state = ? FOR UPDATE SKIP LOCKED";

    /**
     * Finds the first message of each key whose head is gone. The statement groups by key. It does not test each message for an earlier
     * message of its key, because a planner turns that into a join of every message of a key with every other.
     */
    static final String HEADLESS = """
            SELECT b.seq, b.id, b.state, b.topic_id, b.lane, b.tenant, b.ordering_key
            FROM (SELECT MIN(w.seq) AS head FROM {message} w
                  WHERE w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.topic_id = ? AND w.lane IN ({values})
                  GROUP BY w.lane, w.tenant, w.ordering_key
                  HAVING MIN(w.seq) = MIN(CASE WHEN w.state = 'BLOCKED' THEN w.seq END)) k
            JOIN {message} b ON b.seq = k.head
            """;

    private static final String HEAD = """
            SELECT seq, id, state, topic_id, lane FROM {message}
            WHERE topic_id = ? AND lane = ? AND ordering_key = ? AND {tenant} AND state IN ('RETRY', 'BLOCKED', 'PARKED')
            ORDER BY seq LIMIT 1
            """;

    private static final String GO_ON = """
            UPDATE {message}
            SET state = 'RETRY', attempts = {attempts}, crashes = 0, available_at = {now}, reason = NULL, fingerprint = NULL,
                updated_at = {now}
            WHERE seq = ? AND state = ?
            """;

    private static final String REPLAY = """
            UPDATE {message}
            SET state = ?, attempts = 0, crashes = 0, available_at = {now}, reason = NULL, fingerprint = NULL, updated_at = {now}
            WHERE seq = ? AND state = ?
            """;

    /** Skips a row that a handler has locked. That row stays in state RETRY, which delays nothing. */
    private static final String LOCK_DUE_RETRY =
            "SELECT seq FROM {message} WHERE seq = ? AND state = 'RETRY' AND available_at <= {now} FOR UPDATE SKIP LOCKED";

    private static final String BLOCK_RETRY =
            "UPDATE {message} SET state = 'BLOCKED', updated_at = {now} WHERE seq = ? AND state = 'RETRY'";

    private static final String BURY = """
            UPDATE {message} SET state = 'DEAD', reason = COALESCE(reason, ?), updated_at = {now}
            WHERE seq = ? AND state IN ('RETRY', 'BLOCKED', 'PARKED')
            """;

    private static final String DELETE = "DELETE FROM {message} WHERE seq = ? AND state = ?";

    private static final String STATE = "SELECT state FROM {message} WHERE seq = ?";

    /**
     * The result of an operator's action on a key.
     *
     * @param head the head that was changed; null if nothing was changed
     */
    record Change(Repair repair, @Nullable MessageId head) {}

    /** A retrying, blocked, parked or dead message of an ordered topic. */
    record Row(long seq, MessageId id, String state, int topicId, int lane, OrderingKey key) {}

    private final Dialect dialect;

    BlockedKeys(Dialect dialect) {
        this.dialect = dialect;
    }

    List<BlockedKey> list(Connection connection, TopicName topic, long afterSeq, int limit) throws SQLException {
        return dialect.query(
                connection,
                LIST,
                binder -> binder.text(topic.namespace())
                        .text(topic.topic())
                        .number(afterSeq)
                        .integer(limit),
                rows -> {
                    List<BlockedKey> keys = new ArrayList<>();
                    while (rows.next()) {
                        keys.add(blockedKey(rows, topic));
                    }
                    return keys;
                });
    }

    private BlockedKey blockedKey(ResultSet row, TopicName topic) throws SQLException {
        boolean parked = row.getString("state").equals("PARKED");
        Instant since = dialect.readTime(row, "updated_at");
        return new BlockedKey(
                row.getLong("seq"),
                topic,
                row.getString("tenant"),
                row.getString("ordering_key"),
                new MessageId(dialect.readUuid(row, "id")),
                row.getInt("attempts"),
                parked ? null : dialect.readTime(row, "available_at"),
                row.getString("reason"),
                row.getString("last_error"),
                since == null ? Instant.EPOCH : since,
                row.getLong("behind"));
    }

    /** Makes the head due now. A parked head starts again with zero attempts. */
    Change retry(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
        Optional<Row> found = head(connection, topic, key);
        if (found.isEmpty()) {
            return new Change(Repair.NOT_FOUND, null);
        }
        Row head = found.get();
        if (!lockRow(connection, head)) {
            return new Change(Repair.BUSY, null);
        }
        goOn(connection, head, head.state().equals("PARKED") ? "0" : "attempts");
        return new Change(Repair.DONE, head.id());
    }

    /**
     * Makes the head a dead letter, so that the key continues with its next message.
     *
     * @param seen the head that the operator saw; the result is {@code NOT_FOUND} if the key has another head by now
     */
    Change bury(Connection connection, Topics.Topic topic, OrderingKey key, MessageId seen) throws SQLException {
        Optional<Row> found =
                head(connection, topic, key).filter(row -> row.id().equals(seen));
        if (found.isEmpty()) {
            return new Change(Repair.NOT_FOUND, null);
        }
        Row head = found.get();
        if (!lockRow(connection, head)) {
            return new Change(Repair.BUSY, null);
        }
        int met = dialect.update(
                connection,
                BURY,
                binder -> binder.text(DeadReason.BURIED.name()).number(head.seq()));
        LockingDialect.expect(1, met, "bury the head of a key");
        return promote(connection, head) ? new Change(Repair.DONE, head.id()) : new Change(Repair.BUSY, null);
    }

    /**
     * Puts a dead or parked message back in its key. The message is blocked if an earlier message of the key waits. Otherwise it becomes
     * the head and is due now, and the former head is blocked behind it. Reads search by due time only among heads. So every row that a
     * read finds is a head, however many messages of one key are replayed.
     */
    Repair replay(Connection connection, Row row) throws SQLException {
        lock(connection, row.topicId(), row.lane());
        if (!lockRow(connection, row)) {
            return notLocked(connection, row);
        }
        Optional<Row> first = head(connection, row.topicId(), row.lane(), row.key());
        boolean behind = first.isPresent() && first.get().seq() < row.seq();
        int met = dialect.update(
                connection,
                REPLAY,
                binder -> binder.text(behind ? "BLOCKED" : "RETRY")
                        .number(row.seq())
                        .text(row.state()));
        LockingDialect.expect(1, met, "replay a message");
        if (!behind && first.isPresent() && first.get().seq() > row.seq()) {
            blockDueRetry(connection, first.get());
        }
        return Repair.DONE;
    }

    private void blockDueRetry(Connection connection, Row row) throws SQLException {
        if (dialect.query(connection, LOCK_DUE_RETRY, binder -> binder.number(row.seq()), ResultSet::next)) {
            int met = dialect.update(connection, BLOCK_RETRY, binder -> binder.number(row.seq()));
            LockingDialect.expect(1, met, "block a message behind a replayed message");
        }
    }

    /** Removes a dead or parked message. If the message was parked, its key continues. */
    Repair discard(Connection connection, Row row) throws SQLException {
        lock(connection, row.topicId(), row.lane());
        if (!lockRow(connection, row)) {
            return notLocked(connection, row);
        }
        int met = dialect.update(
                connection, DELETE, binder -> binder.number(row.seq()).text(row.state()));
        LockingDialect.expect(1, met, "discard a message");
        return !row.state().equals("PARKED") || promote(connection, row) ? Repair.DONE : Repair.BUSY;
    }

    /** Returns {@code BUSY} if the row is unchanged and only locked. Otherwise another operator was faster: {@code NOT_DEAD}. */
    private Repair notLocked(Connection connection, Row row) throws SQLException {
        boolean same = dialect.query(
                connection,
                STATE,
                binder -> binder.number(row.seq()),
                found -> found.next() && row.state().equals(found.getString("state")));
        return same ? Repair.BUSY : Repair.NOT_DEAD;
    }

    /**
     * Makes the next message of a key its head, after the transaction of a handler removed the previous head. That transaction locks no
     * lane. This method locks the lane, so that a message that was about to join the key has joined it. It is correct whichever node
     * owns the lane.
     */
    LaneStatements.Promotion promoteNext(Connection connection, int topicId, int lane, OrderingKey key)
            throws SQLException {
        lockOnly(connection, topicId, lane);
        Optional<Row> next = head(connection, topicId, lane, key);
        boolean promoted = next.isEmpty() || promoteIfBlocked(connection, next.get());
        return new LaneStatements.Promotion(
                next.isPresent(), promoted ? null : next.get().seq());
    }

    /** Finds the lanes that have keys without a head: a node may be lost between removing a head and promoting. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        Set<Integer> headless = new TreeSet<>();
        headless(connection, topicId, lanes).forEach(row -> headless.add(row.lane()));
        return headless;
    }

    /**
     * Does the same as {@link #promoteNext} for all keys of a lane.
     *
     * @return the numbers of messages that should become heads and that another transaction has locked
     */
    Set<Long> promoteMissingHeads(Connection connection, int topicId, int lane) throws SQLException {
        lockOnly(connection, topicId, lane);
        Set<Long> locked = new TreeSet<>();
        for (Row head : headless(connection, topicId, List.of(lane))) {
            if (!promoteIfBlocked(connection, head)) {
                locked.add(head.seq());
            }
        }
        return locked;
    }

    private List<Row> headless(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(HEADLESS, lanes.size()),
                binder -> LockingDialect.bindIntegers(binder.integer(topicId), lanes),
                rows -> {
                    List<Row> found = new ArrayList<>();
                    while (rows.next()) {
                        Row row = ordered(rows);
                        if (row != null) {
                            found.add(row);
                        }
                    }
                    return found;
                });
    }

    /**
     * Makes a blocked message the head of its key. A message that is being handled is skipped: waiting for it would keep the lane locked.
     *
     * @return false if the message should become the head and is locked
     */
    private boolean promoteIfBlocked(Connection connection, Row row) throws SQLException {
        boolean blocked = row.state().equals("BLOCKED");
        boolean locked = blocked && lockRow(connection, row);
        if (locked) {
            goOn(connection, row, "attempts");
        }
        return locked || !blocked;
    }

    /** Locks the row without waiting, because the lane is locked meanwhile. */
    private boolean lockRow(Connection connection, Row row) throws SQLException {
        return dialect.query(
                connection, LOCK_ROW, binder -> binder.number(row.seq()).text(row.state()), ResultSet::next);
    }

    /** Locks the lane without a new revision: nothing changes that its owner keeps in memory. */
    private void lockOnly(Connection connection, int topicId, int lane) throws SQLException {
        boolean met = dialect.query(
                connection, LOCK_LANE, binder -> binder.integer(topicId).integer(lane), ResultSet::next);
        LockingDialect.expect(1, met ? 1 : 0, "lock a lane");
    }

    private Optional<Row> head(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
        if (topic.lanes() == 0) {
            return Optional.empty();
        }
        int lane = LaneHash.of(key.tenant(), key.key(), topic.lanes());
        lock(connection, topic.id(), lane);
        return head(connection, topic.id(), lane, key);
    }

    /** Locks the lane and raises its revision, so that its owner reloads before it writes another outcome. */
    void lock(Connection connection, int topicId, int lane) throws SQLException {
        lockOnly(connection, topicId, lane);
        int met = dialect.update(
                connection, RAISE_REVISION, binder -> binder.integer(topicId).integer(lane));
        LockingDialect.expect(1, met, "lock a lane");
    }

    private Optional<Row> head(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException {
        @Nullable String tenant = key.tenant();
        return dialect.query(
                connection,
                HEAD.replace("{tenant}", tenant == null ? "tenant IS NULL" : "tenant = ?"),
                binder -> {
                    binder.integer(topicId).integer(lane).text(key.key());
                    if (tenant != null) {
                        binder.text(tenant);
                    }
                },
                row -> row.next() ? Optional.of(row(row, key)) : Optional.empty());
    }

    private Row row(ResultSet row, OrderingKey key) throws SQLException {
        return new Row(
                row.getLong("seq"),
                new MessageId(dialect.readUuid(row, "id")),
                row.getString("state"),
                row.getInt("topic_id"),
                row.getInt("lane"),
                key);
    }

    /** Returns null for a message of an unordered topic, and for a row without an ordering key. */
    @Nullable
    Row ordered(ResultSet row) throws SQLException {
        row.getInt("lane");
        boolean unordered = row.wasNull();
        String key = row.getString("ordering_key");
        return unordered || key == null ? null : row(row, new OrderingKey(row.getString("tenant"), key));
    }

    private void goOn(Connection connection, Row row, String attempts) throws SQLException {
        int met = dialect.update(
                connection,
                GO_ON.replace("{attempts}", attempts),
                binder -> binder.number(row.seq()).text(row.state()));
        LockingDialect.expect(1, met, "continue a blocked key");
    }

    /** @return false if the next message is being handled, and the operator has to repeat the action */
    private boolean promote(Connection connection, Row gone) throws SQLException {
        Optional<Row> next = head(connection, gone.topicId(), gone.lane(), gone.key());
        return next.isEmpty() || promoteIfBlocked(connection, next.get());
    }
}
