package dev.postrider.jdbc;

import dev.postrider.store.Lane;
import dev.postrider.store.LaneStore;
import dev.postrider.store.OrderingKey;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The statements of one database for lanes. Every change of a message is fenced: it locks the lane's row in share mode, and happens only
 * if the lane still has the token and the revision of the cursor. Immutable, thread-safe.
 */
abstract class LaneStatements {

    /** How many messages behind the head of a blocked key are read together with the head. */
    static final int BEHIND_HEAD = 50;

    /**
     * A lane at its acquisition.
     *
     * @param crashed whether the last owner was lost
     * @param alone the message in isolated delivery when the last owner was lost; null for none
     * @param buffer how many messages may have been in flight on the last owner
     */
    record AcquiredLane(
            int lane,
            UUID token,
            int revision,
            long floor,
            boolean crashed,
            @Nullable Long alone,
            int buffer) {}

    /** A row of a lane, and its state at the read. */
    record LaneRow(int lane, String state, ClaimedRow row) {}

    /**
     * The result of one read of lanes.
     *
     * @param paused whether the topic is paused: then no rows were read, and the read proves nothing
     * @param rows in the order of their numbers
     */
    record LaneRead(Horizon.Sight sight, boolean paused, List<LaneRow> rows) {}

    /**
     * When topics have messages to read.
     *
     * @param due microseconds until each topic has a message to read; without paused topics and topics that have none
     * @param paused the paused topics
     */
    record DueTopics(Map<Integer, Long> due, Set<Integer> paused) {}

    /**
     * The new state of a message that was not delivered.
     *
     * @param delay until the message is due; null for never
     */
    record Move(
            long seq,
            UUID id,
            String state,
            int attempts,
            @Nullable Duration delay,
            @Nullable String error,
            @Nullable String reason,
            @Nullable String fingerprint) {}

    /**
     * What messages leave when they are moved, which determines the states that they are moved from. No operator puts a message back into
     * the order. So an outcome that is sent again cannot overwrite an operator's change, unless the message is in a blocked key.
     */
    enum Leaving {
        /** The messages leave the order, or are scheduled messages outside the order. */
        THE_ORDER,

        /** The messages leave their blocked key. The next message of the key becomes the head. */
        THEIR_KEY,

        /** The messages stay in their blocked key. */
        NOTHING;

        List<String> states() {
            return this == THE_ORDER ? List.of("PENDING", "SCHEDULED") : List.of("RETRY", "BLOCKED");
        }
    }

    /**
     * The rows that a statement matched.
     *
     * @param keyBlocked by number: whether the key of the row still has waiting rows
     * @param lockedHeads by number: the next row of the key, if it should have become the head and another session has locked it
     * @param transaction the id of the transaction; {@link Horizon#NO_TRANSACTION} where it has no meaning
     */
    record Written(Map<Long, Boolean> keyBlocked, Map<Long, Long> lockedHeads, long transaction) {

        Written(Map<Long, Boolean> keyBlocked, long transaction) {
            this(keyBlocked, Map.of(), transaction);
        }
    }

    /**
     * The state of a key after its head was removed.
     *
     * @param keyBlocked whether messages of the key are waiting
     * @param lockedHead the next message, if it should have become the head and another session has locked it; null otherwise
     */
    record Promotion(boolean keyBlocked, @Nullable Long lockedHead) {}

    /**
     * The result of a renewal.
     *
     * @param floors the stored floors, by the token of each renewed lane
     * @param locked the tokens of lanes that are still owned, and whose rows another session has locked
     * @param transaction as in {@link Written}
     */
    record Renewed(Map<UUID, Long> floors, Set<UUID> locked, long transaction) {}

    /**
     * The floors of lanes, valid for one server. On another server they have no meaning: it may lack the last commits and give out the same
     * numbers again.
     *
     * @param server the server whose rows proved the floors; null if none is known
     */
    record Floors(@Nullable String server, Map<LaneCursor, Long> byLane) {}

    /**
     * The contents of lane rows.
     *
     * @param server the server that returned the rows
     * @param byToken only the lanes that are still owned
     */
    record Standings(String server, Map<UUID, Standing> byToken) {}

    /** @param floor as in {@link Floors} */
    record Standing(int revision, long floor) {}

    private final Dialect dialect;
    private final NodeTable nodes;
    private final BlockedKeys keys;

    LaneStatements(Dialect dialect) {
        this.dialect = dialect;
        this.nodes = new NodeTable(dialect);
        this.keys = new BlockedKeys(dialect);
    }

    // Nodes

    /** Announces that the node is alive. Returns the number of live nodes by the id of each topic. Runs in a transaction. */
    Map<Integer, Integer> announce(Connection connection, LaneStore.Node node, Set<Integer> topicIds, Duration lease)
            throws SQLException {
        return nodes.announce(connection, node, topicIds, lease);
    }

    /** @return whether the node was announced */
    boolean leave(Connection connection, LaneStore.Node node) throws SQLException {
        return nodes.leave(connection, node);
    }

    // Keys whose head was removed by the transaction of its handler, which locks no lane

    /** Makes the next message of the key its head, unless another session has locked the row. Runs in a transaction. */
    Promotion promoteNext(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException {
        return keys.promoteNext(connection, topicId, lane, key);
    }

    /** Returns the lanes that have keys without a head. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        return keys.lanesWithoutHeads(connection, topicId, lanes);
    }

    /** As {@link #promoteNext}, for all keys of a lane. Returns the messages whose rows another session has locked. */
    Set<Long> promoteMissingHeads(Connection connection, int topicId, int lane) throws SQLException {
        return keys.promoteMissingHeads(connection, topicId, lane);
    }

    // Ownership

    /** @param buffer how many messages may be in flight on the new owner, from the acquisition on */
    abstract List<AcquiredLane> acquire(
            Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException;

    /**
     * Extends the leases, and stores each floor that is higher than the stored one. Returns the lanes that are still owned.
     *
     * @param wait whether to wait for the row of a lane that another session has locked, instead of skipping it
     */
    abstract Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait)
            throws SQLException;

    /** Whether a renewal conflicts with concurrent writes of outcomes in the lane, so that it must wait for their locks. */
    abstract boolean renewalMeetsOutcomes();

    abstract void release(Connection connection, Floors floors) throws SQLException;

    /** Releases lanes whose acquisition or release got no answer. */
    abstract void releaseTokens(Connection connection, Collection<UUID> tokens) throws SQLException;

    abstract Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException;

    /** Returns the states of the rows with these numbers and ids. Locks nothing. */
    abstract Map<Long, String> states(Connection connection, Map<Long, UUID> rows) throws SQLException;

    /** Returns the blocked keys of each of these lanes. */
    abstract Map<Integer, Set<OrderingKey>> blockedKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException;

    /**
     * Counts a crash for the messages that may have been in flight on the lost owners, up to two crashes each. Two crashes make a message a
     * suspect. A suspect in isolated delivery, as noted in its lane, gets one more crash, also beyond two. Locked messages are skipped.
     */
    abstract void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException;

    /** @return whether the lane is still owned */
    abstract boolean setIsolated(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException;

    // Reading

    abstract LaneRead read(Connection connection, int topicId, List<LaneCursor.Scan> scans, long maxBytes)
            throws SQLException;

    /** Returns the numbers that any of the scans leaves out. */
    static List<Long> leaveOut(List<LaneCursor.Scan> scans) {
        return scans.stream().flatMap(scan -> scan.leaveOut().stream()).toList();
    }

    abstract List<LaneRow> readTimed(
            Connection connection, int topicId, List<Integer> lanes, List<Long> leaveOut, int limit, long maxBytes)
            throws SQLException;

    /** Returns when there are messages to read above these numbers. */
    abstract DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException;

    // Outcomes

    /** Removes the rows of delivered messages. If they were waiting, the next message of each key becomes its head. */
    abstract Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            Map<Long, UUID> rows,
            boolean waiting,
            JdbcOptions.Archive archive)
            throws SQLException;

    /** Moves the rows of messages that were not delivered. */
    abstract Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException;

    /** Blocks rows behind the head of their key. A row that has no other row of its key before it becomes the head. */
    abstract Written block(Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows)
            throws SQLException;

    // Result sets

    static final Comparator<LaneRow> BY_NUMBER =
            Comparator.comparingLong(row -> row.row().seq());

    static List<LaneRow> laneRows(ResultSet rows, Dialect dialect) throws SQLException {
        ClaimedRow.Reader reader = new ClaimedRow.Reader(rows, dialect);
        int lane = rows.findColumn("lane");
        int state = rows.findColumn("state");
        List<LaneRow> found = new ArrayList<>();
        while (rows.next()) {
            found.add(new LaneRow(rows.getInt(lane), rows.getString(state), reader.read(Instant.EPOCH)));
        }
        return found;
    }

    final Map<Long, String> states(ResultSet found, Map<Long, UUID> wanted) throws SQLException {
        Map<Long, String> states = new HashMap<>();
        while (found.next()) {
            long seq = found.getLong("seq");
            if (dialect.readUuid(found, "id").equals(wanted.get(seq))) {
                states.put(seq, found.getString("state"));
            }
        }
        return states;
    }

    static Map<Integer, Set<OrderingKey>> blockedKeys(ResultSet rows) throws SQLException {
        Map<Integer, Set<OrderingKey>> blocked = new HashMap<>();
        while (rows.next()) {
            blocked.computeIfAbsent(rows.getInt("lane"), lane -> new HashSet<>())
                    .add(new OrderingKey(rows.getString("tenant"), rows.getString("ordering_key")));
        }
        return blocked;
    }
}
