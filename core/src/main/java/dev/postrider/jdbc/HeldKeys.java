package dev.postrider.jdbc;

import dev.postrider.admin.HeldKey;
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
 * And what is left to do for a key when a message of it was removed by its own handler.
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

    private static final String LOCK_LANE = "UPDATE {lane} SET revision = revision + 1 WHERE topic_id = ? AND lane = ?";

    /** Without a new revision: nothing changes that its holder keeps in mind. */
    private static final String LOCK_LANE_ONLY = "SELECT lane FROM {lane} WHERE topic_id = ? AND lane = ? FOR UPDATE";

    private static final String LOCK_BLOCKED =
            "SELECT seq FROM {message} WHERE seq = ? AND state = 'BLOCKED' FOR UPDATE SKIP LOCKED";

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

    private static final String BURY = """
            UPDATE {message} SET state = 'DEAD', reason = COALESCE(reason, ?), updated_at = {now}
            WHERE seq = ? AND state IN ('RETRY', 'PARKED')
            """;

    private static final String DELETE = "DELETE FROM {message} WHERE seq = ? AND state = ?";

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
    Optional<MessageId> release(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
        Optional<Row> head = lockHead(connection, topic, key);
        if (head.isPresent()) {
            boolean parked = head.get().state().equals("PARKED");
            goOn(connection, head.get(), parked ? "0" : "attempts");
        }
        return head.map(Row::id);
    }

    /** The head becomes a dead letter and the key goes on without it. */
    Optional<MessageId> skip(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
        Optional<Row> head = lockHead(connection, topic, key);
        if (head.isPresent()) {
            int met = dialect.update(
                    connection,
                    BURY,
                    binder -> binder.text(DeadReason.SKIPPED.name())
                            .number(head.get().seq()));
            LockingDialect.expect(1, met, "skip the head of a key");
            promote(connection, head.get());
        }
        return head.map(Row::id);
    }

    /** Puts a dead or parked message back in its key, due now; it waits for what is before it. */
    boolean replay(Connection connection, Row row) throws SQLException {
        lock(connection, row.topicId(), row.lane());
        return goOnIfStill(connection, row, "0");
    }

    /** Removes a dead or parked message; a key that it held goes on. */
    boolean discard(Connection connection, Row row) throws SQLException {
        lock(connection, row.topicId(), row.lane());
        boolean removed = dialect.update(
                        connection, DELETE, binder -> binder.number(row.seq()).text(row.state()))
                == 1;
        if (removed && row.state().equals("PARKED")) {
            promote(connection, row);
        }
        return removed;
    }

    /**
     * After a message of the key was removed by the transaction that handled it, which locks no lane: the next one becomes the head.
     * The lane is locked, so that whatever is about to join the key has joined it; whoever holds the lane, this is right.
     *
     * @return whether messages of the key are waiting
     */
    boolean goOnWithout(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException {
        lockOnly(connection, topicId, lane);
        Optional<Row> next = head(connection, topicId, lane, key);
        if (next.isPresent() && lockBlocked(connection, next.get())) {
            goOn(connection, next.get(), "attempts");
        }
        return next.isPresent();
    }

    /** The lanes that have keys without a head: whoever removed it may have been lost before it could say so. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        Set<Integer> headless = new TreeSet<>();
        headless(connection, topicId, lanes).forEach(row -> headless.add(row.lane()));
        return headless;
    }

    /** As {@link #goOnWithout}, for all keys of a lane. */
    int goOnWithoutHeads(Connection connection, int topicId, int lane) throws SQLException {
        lockOnly(connection, topicId, lane);
        int moved = 0;
        for (Row head : headless(connection, topicId, List.of(lane))) {
            if (lockBlocked(connection, head)) {
                goOn(connection, head, "attempts");
                moved++;
            }
        }
        return moved;
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

    /** One that is being handled at this moment is left alone: waiting for it would keep the lane from everybody. */
    private boolean lockBlocked(Connection connection, Row row) throws SQLException {
        return row.state().equals("BLOCKED")
                && dialect.query(connection, LOCK_BLOCKED, binder -> binder.number(row.seq()), ResultSet::next);
    }

    private void lockOnly(Connection connection, int topicId, int lane) throws SQLException {
        boolean met = dialect.query(
                connection, LOCK_LANE_ONLY, binder -> binder.integer(topicId).integer(lane), ResultSet::next);
        LockingDialect.expect(1, met ? 1 : 0, "lock a lane");
    }

    private Optional<Row> lockHead(Connection connection, Topics.Topic topic, OrderingKey key) throws SQLException {
        if (topic.lanes() == 0) {
            return Optional.empty();
        }
        int lane = LaneHash.of(key.tenant(), key.key(), topic.lanes());
        lock(connection, topic.id(), lane);
        return head(connection, topic.id(), lane, key);
    }

    private void lock(Connection connection, int topicId, int lane) throws SQLException {
        int met = dialect.update(
                connection, LOCK_LANE, binder -> binder.integer(topicId).integer(lane));
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
        LockingDialect.expect(1, goOnIfStill(connection, row, attempts) ? 1 : 0, "go on with a key");
    }

    private boolean goOnIfStill(Connection connection, Row row, String attempts) throws SQLException {
        return dialect.update(
                        connection,
                        GO_ON.replace("{attempts}", attempts),
                        binder -> binder.number(row.seq()).text(row.state()))
                == 1;
    }

    private void promote(Connection connection, Row gone) throws SQLException {
        Optional<Row> next = head(connection, gone.topicId(), gone.lane(), gone.key());
        if (next.isPresent() && next.get().state().equals("BLOCKED")) {
            goOn(connection, next.get(), "attempts");
        }
    }
}
