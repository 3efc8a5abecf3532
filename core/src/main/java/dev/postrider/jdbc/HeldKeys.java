package dev.postrider.jdbc;

import dev.postrider.admin.HeldKey;
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
 * What operators do to keys of ordered topics. Every change locks the lane first and raises its revision, so that the holder of the
 * lane, if it was about to write an outcome, does so on what it finds afterwards. The lowest waiting message of a key is its head.
 * And what is left to do for a key when a message of it was removed by its own handler. Nothing here waits for a message while it has
 * locked the lane: one that is being handled is locked for as long as that takes.
 */
final class HeldKeys {

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

    /** By an update alone PostgreSQL would not exclude the outcomes that are being written. */
    private static final String LOCK_LANE = "SELECT lane FROM {lane} WHERE topic_id = ? AND lane = ? FOR UPDATE";

    private static final String RAISE_REVISION =
            "UPDATE {lane} SET revision = revision + 1 WHERE topic_id = ? AND lane = ?";

    private static final String LOCK_ROW =
            "SELECT seq FROM {message}{by key} WHERE seq = ? AND state = ? FOR UPDATE SKIP LOCKED";

    /**
     * What waits behind a head that is gone. By groups, and not by asking of each message whether one of its key is before it: a planner
     * makes a join of that, of every message of a key with every other.
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

    /** A handler may have locked the row: then it stays a retry, which delays nothing. */
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
     * What came of an operator's change of a key.
     *
     * @param head whose change it was; null if nothing was changed
     */
    record Change(Repair repair, @Nullable MessageId head) {}

    /** A message of an ordered topic that waits or is dead. */
    record Row(long seq, MessageId id, String state, int topicId, int lane, OrderingKey key) {}

    private final Dialect dialect;

    HeldKeys(Dialect dialect) {
        this.dialect = dialect;
    }

    List<HeldKey> list(Connection connection, TopicName topic, long afterSeq, int limit) throws SQLException {
        return dialect.query(
                connection,
                LIST,
                binder -> binder.text(topic.namespace())
                        .text(topic.topic())
                        .number(afterSeq)
                        .integer(limit),
                rows -> {
                    List<HeldKey> keys = new ArrayList<>();
                    while (rows.next()) {
                        keys.add(heldKey(rows, topic));
                    }
                    return keys;
                });
    }

    private HeldKey heldKey(ResultSet row, TopicName topic) throws SQLException {
        boolean parked = row.getString("state").equals("PARKED");
        Instant since = dialect.readTime(row, "updated_at");
        return new HeldKey(
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

    /** The head is tried again now, with all its attempts before it if it was parked. */
    Change release(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
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

    /** The head becomes a dead letter and the key goes on without it. */
    Change skip(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
        Optional<Row> found = head(connection, topic, key);
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
                binder -> binder.text(DeadReason.SKIPPED.name()).number(head.seq()));
        LockingDialect.expect(1, met, "skip the head of a key");
        return promote(connection, head) ? new Change(Repair.DONE, head.id()) : new Change(Repair.BUSY, null);
    }

    /**
     * Puts a dead or parked message back in its key. The message is blocked if an earlier one of the key waits. Otherwise it is the
     * head, due now, and the former head is blocked behind it: only heads are searched by their due time, so that a read finds a head
     * at each row, however many messages of one key are replayed.
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
            LockingDialect.expect(1, met, "block a message behind a replayed one");
        }
    }

    /** Removes a dead or parked message; a key that it held goes on. */
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

    /** Another operator was faster, unless the row is as it was and only locked. */
    private Repair notLocked(Connection connection, Row row) throws SQLException {
        boolean same = dialect.query(
                connection,
                STATE,
                binder -> binder.number(row.seq()),
                found -> found.next() && row.state().equals(found.getString("state")));
        return same ? Repair.BUSY : Repair.NOT_DEAD;
    }

    /**
     * After a message of the key was removed by the transaction that handled it, which locks no lane: the next one becomes the head.
     * The lane is locked, so that whatever is about to join the key has joined it; whoever holds the lane, this is right.
     */
    LaneStatements.Promotion goOnWithout(Connection connection, int topicId, int lane, OrderingKey key)
            throws SQLException {
        lockOnly(connection, topicId, lane);
        Optional<Row> next = head(connection, topicId, lane, key);
        boolean promoted = next.isEmpty() || promoteIfBlocked(connection, next.get());
        return new LaneStatements.Promotion(
                next.isPresent(), promoted ? null : next.get().seq());
    }

    /** The lanes that have keys without a head: whoever removed it may have been lost before it could say so. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        Set<Integer> headless = new TreeSet<>();
        headless(connection, topicId, lanes).forEach(row -> headless.add(row.lane()));
        return headless;
    }

    /** As {@link #goOnWithout}, for all keys of a lane; answers the messages that somebody has locked. */
    Set<Long> goOnWithoutHeads(Connection connection, int topicId, int lane) throws SQLException {
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
     * One that is being handled at this moment is left alone: waiting for it would keep the lane from everybody.
     *
     * @return false if it should have become the head and is locked
     */
    private boolean promoteIfBlocked(Connection connection, Row row) throws SQLException {
        boolean blocked = row.state().equals("BLOCKED");
        boolean locked = blocked && lockRow(connection, row);
        if (locked) {
            goOn(connection, row, "attempts");
        }
        return locked || !blocked;
    }

    /** Waits for nobody: the lane is locked. */
    private boolean lockRow(Connection connection, Row row) throws SQLException {
        return dialect.query(
                connection, LOCK_ROW, binder -> binder.number(row.seq()).text(row.state()), ResultSet::next);
    }

    /** Without a new revision: nothing changes that its holder keeps in mind. */
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

    /** So that its holder writes what it was about to write on what it finds afterwards. */
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

    /** Null for a message of an unordered topic, and for a row that makes no message. */
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
        LockingDialect.expect(1, met, "go on with a key");
    }

    /** @return false if the next one is being handled, and the operator has to come back */
    private boolean promote(Connection connection, Row gone) throws SQLException {
        Optional<Row> next = head(connection, gone.topicId(), gone.lane(), gone.key());
        return next.isEmpty() || promoteIfBlocked(connection, next.get());
    }
}
