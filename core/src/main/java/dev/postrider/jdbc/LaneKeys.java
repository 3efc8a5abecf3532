package dev.postrider.jdbc;

import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.outbox.LaneHash;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.MessageId;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a lane. The head of a key is its lowest retrying, blocked or parked message. A change of a key locks the lane first. No method
 * waits for a message while it has locked the lane: a message is locked for as long as its handler runs.
 */
final class LaneKeys implements KeyHeads {

    /** On PostgreSQL an UPDATE alone does not conflict with the lane locks of outcomes that are being written. */
    private static final String LOCK_LANE = "SELECT lane FROM {lane} WHERE topic_id = ? AND lane = ? FOR UPDATE";

    private static final String LOCK_FREE_LANE = LOCK_LANE + " SKIP LOCKED";

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

    /** All keys with messages that wait outside the order of their lane, with or without a head. */
    static final String WAITING_KEYS = """
            SELECT w.lane, w.tenant, w.ordering_key, MIN(w.seq) AS head, MIN(CASE WHEN w.state = 'BLOCKED' THEN w.seq END) AS blocked
            FROM {message} w
            WHERE w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.topic_id = ? AND w.lane IN ({values})
            GROUP BY w.lane, w.tenant, w.ordering_key
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

    /** A retrying, blocked, parked or dead message of an ordered topic. */
    record Row(long seq, MessageId id, RowState state, int topicId, int lane, OrderingKey key) {}

    private final SqlRunner sql;

    LaneKeys(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Optional<Promotion> promoteNext(Connection connection, int topicId, int lane, OrderingKey key)
            throws SQLException {
        if (!lockIfFree(connection, topicId, lane)) {
            return Optional.empty();
        }
        Optional<Row> next = head(connection, topicId, lane, key);
        boolean promoted = next.isEmpty() || promoteIfBlocked(connection, next.get());
        return Optional.of(
                new Promotion(next.isPresent(), promoted ? null : next.get().seq()));
    }

    @Override
    public List<WaitingKey> waitingKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException {
        return sql.query(
                connection,
                ValueList.in(WAITING_KEYS, lanes.size()),
                binder -> ValueList.bindIntegers(binder.integer(topicId), lanes),
                rows -> {
                    List<WaitingKey> keys = new ArrayList<>();
                    while (rows.next()) {
                        String key = rows.getString("ordering_key");
                        if (key != null) {
                            keys.add(new WaitingKey(
                                    rows.getInt("lane"),
                                    new OrderingKey(rows.getString("tenant"), key),
                                    rows.getLong("head") == rows.getLong("blocked")));
                        }
                    }
                    return keys;
                });
    }

    @Override
    public Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException {
        Set<Integer> headless = new TreeSet<>();
        headless(connection, topicId, lanes).forEach(row -> headless.add(row.lane()));
        return headless;
    }

    @Override
    public Optional<Set<Long>> promoteMissingHeads(Connection connection, int topicId, int lane) throws SQLException {
        if (!lockIfFree(connection, topicId, lane)) {
            return Optional.empty();
        }
        Set<Long> locked = new TreeSet<>();
        for (Row head : headless(connection, topicId, List.of(lane))) {
            if (!promoteIfBlocked(connection, head)) {
                locked.add(head.seq());
            }
        }
        return Optional.of(locked);
    }

    private List<Row> headless(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(HEADLESS, lanes.size()),
                binder -> ValueList.bindIntegers(binder.integer(topicId), lanes),
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
    boolean promoteIfBlocked(Connection connection, Row row) throws SQLException {
        boolean blocked = row.state() == RowState.BLOCKED;
        boolean locked = blocked && lockRow(connection, row);
        if (locked) {
            goOn(connection, row, "attempts");
        }
        return locked || !blocked;
    }

    /** Locks the row without waiting, because the lane is locked meanwhile. */
    boolean lockRow(Connection connection, Row row) throws SQLException {
        return sql.query(
                connection,
                LOCK_ROW,
                binder -> binder.number(row.seq()).text(row.state().name()),
                ResultSet::next);
    }

    /**
     * Locks the lane without a new revision: nothing changes that its owner keeps in memory. Does not wait, because the calling thread
     * serves other lanes too.
     *
     * @return false if another transaction has locked the lane
     */
    private boolean lockIfFree(Connection connection, int topicId, int lane) throws SQLException {
        return sql.query(
                connection, LOCK_FREE_LANE, binder -> binder.integer(topicId).integer(lane), ResultSet::next);
    }

    /** Locks the lane and raises its revision, so that its owner reloads before it writes another outcome. */
    void lock(Connection connection, int topicId, int lane) throws SQLException {
        SqlRunner.expect(1, lock(connection, topicId, lane, true) ? 1 : 0, "lock a lane");
    }

    /**
     * As {@link #lock(Connection, int, int)}.
     *
     * @param mayWait whether to wait for a transaction that has locked the lane
     * @return false if the lane is not there, or is locked and may not be waited for
     */
    boolean lock(Connection connection, int topicId, int lane, boolean mayWait) throws SQLException {
        boolean locked = sql.query(
                connection,
                mayWait ? LOCK_LANE : LOCK_FREE_LANE,
                binder -> binder.integer(topicId).integer(lane),
                ResultSet::next);
        if (!locked) {
            return false;
        }
        int met = sql.update(
                connection, RAISE_REVISION, binder -> binder.integer(topicId).integer(lane));
        SqlRunner.expect(1, met, "lock a lane");
        return true;
    }

    Optional<Row> head(Connection connection, Topics.RegisteredTopic topic, OrderingKey key) throws SQLException {
        if (topic.lanes() == 0) {
            return Optional.empty();
        }
        int lane = LaneHash.of(key.tenant(), key.key(), topic.lanes());
        lock(connection, topic.id(), lane);
        return head(connection, topic.id(), lane, key);
    }

    Optional<Row> head(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException {
        @Nullable String tenant = key.tenant();
        return sql.query(
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
                new MessageId(sql.readUuid(row, "id")),
                RowState.read(row),
                row.getInt("topic_id"),
                row.getInt("lane"),
                key);
    }

    /**
     * Returns null for a message of an unordered topic, for a row without an ordering key, and for one in a state that other software
     * has written.
     */
    @Nullable
    Row ordered(ResultSet row) throws SQLException {
        row.getInt("lane");
        boolean unordered = row.wasNull();
        String key = row.getString("ordering_key");
        boolean unknown = RowState.find(row.getString("state")).isEmpty();
        return unordered || key == null || unknown ? null : row(row, new OrderingKey(row.getString("tenant"), key));
    }

    void goOn(Connection connection, Row row, String attempts) throws SQLException {
        int met = sql.update(
                connection,
                GO_ON.replace("{attempts}", attempts),
                binder -> binder.number(row.seq()).text(row.state().name()));
        SqlRunner.expect(1, met, "continue a blocked key");
    }

    /** @return false if the next message is being handled, and the operator has to repeat the action */
    boolean promote(Connection connection, Row gone) throws SQLException {
        Optional<Row> next = head(connection, gone.topicId(), gone.lane(), gone.key());
        return next.isEmpty() || promoteIfBlocked(connection, next.get());
    }
}
