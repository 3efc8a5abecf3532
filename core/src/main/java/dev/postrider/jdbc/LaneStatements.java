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
 * What one database does for lanes. Every change of a message is fenced: it locks the lane's row in share mode, and happens only
 * if the lane still has the token and the revision that the cursor knows. Immutable, thread-safe.
 */
abstract class LaneStatements {

    /** How many messages behind the head of a held key are read together with it. */
    static final int BEHIND_HEAD = 50;

    /**
     * A lane as it was taken.
     *
     * @param crashed its last holder was lost
     * @param alone what that one delivered alone when it was lost
     * @param buffer how many messages it may have had in its hands
     */
    record Taken(
            int lane,
            UUID token,
            int revision,
            long floor,
            boolean crashed,
            @Nullable Long alone,
            int buffer) {}

    /** A row of a lane, and the state it was in. */
    record LaneRow(int lane, String state, ClaimedRow row) {}

    /**
     * @param paused nothing was looked for, so nothing can be concluded
     * @param rows in the order of their numbers
     */
    record Sighting(Horizon.Sight sight, boolean paused, List<LaneRow> rows) {}

    /**
     * A message that is not delivered, and where it goes.
     *
     * @param delay until it is due; null for never
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
     * What messages leave when they are moved, and so the states that they are moved from. An operator never puts one back into
     * the order: an outcome that is sent again cannot meet what it did, unless it is of a held key.
     */
    enum Leaving {
        /** The order, or their time beside it. */
        THE_ORDER,

        /** Their key, whose next message becomes the head. */
        THEIR_KEY,

        /** They stay in their key. */
        NOTHING;

        List<String> states() {
            return this == THE_ORDER ? List.of("PENDING", "SCHEDULED") : List.of("RETRY", "BLOCKED");
        }
    }

    /**
     * Which rows a statement met.
     *
     * @param keyHeld by number: whether the row's key still has waiting rows
     * @param transaction the transaction's id, where it has a meaning
     */
    record Written(Map<Long, Boolean> keyHeld, long transaction) {}

    /**
     * @param floors by the token of each lane that is still held, as they are stored now
     * @param transaction as in {@link Written}
     */
    record Renewed(Map<UUID, Long> floors, long transaction) {}

    /**
     * How far lanes are done with, by what one server showed. On another one that means nothing: it may lack what the first had,
     * and give out the same numbers again.
     */
    record Floors(@Nullable String server, Map<LaneCursor, Long> byLane) {}

    /**
     * What the rows of lanes say.
     *
     * @param server whose rows they are
     * @param byToken of the lanes that are still held
     */
    record Standings(String server, Map<UUID, Standing> byToken) {}

    /** @param floor as in {@link Floors} */
    record Standing(int revision, long floor) {}

    private final NodeTable nodes;
    private final HeldKeys keys;

    LaneStatements(Dialect dialect) {
        this.nodes = new NodeTable(dialect);
        this.keys = new HeldKeys(dialect);
    }

    // Nodes

    /** Says that the node is alive; answers how many are, by the number of each topic that they deliver. In a transaction. */
    Map<Integer, Integer> announce(Connection connection, LaneStore.Node node, Set<Integer> topicIds, Duration lease)
            throws SQLException {
        return nodes.announce(connection, node, topicIds, lease);
    }

    /** @return whether it was known */
    boolean leave(Connection connection, LaneStore.Node node) throws SQLException {
        return nodes.leave(connection, node);
    }

    // Keys whose head was removed by its own handler, which locks no lane

    /** The next message of the key becomes its head; answers whether messages of the key are waiting. In a transaction. */
    boolean goOnWithout(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException {
        return keys.goOnWithout(connection, topicId, lane, key);
    }

    /** The lanes that have keys without a head. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        return keys.lanesWithoutHeads(connection, topicId, lanes);
    }

    /** As {@link #goOnWithout}, for all keys of a lane; says for how many. */
    int goOnWithoutHeads(Connection connection, int topicId, int lane) throws SQLException {
        return keys.goOnWithoutHeads(connection, topicId, lane);
    }

    // Owning

    /** @param buffer how many messages the new holder may have in its hands, from the first moment on */
    abstract List<Taken> acquire(
            Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException;

    /** Prolongs, and stores the floors that are higher than what is stored; answers for the lanes that are still held. */
    abstract Renewed renew(Connection connection, Floors floors, Duration lease, int buffer) throws SQLException;

    abstract void release(Connection connection, Floors floors) throws SQLException;

    /** Gives back lanes that were taken without an answer. */
    abstract void releaseTokens(Connection connection, Collection<UUID> tokens) throws SQLException;

    abstract Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException;

    /** The keys that are held in each of these lanes. */
    abstract Map<Integer, Set<OrderingKey>> heldKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException;

    /**
     * Counts a crash against what the lost holders had in their hands: the one message, if it was delivered alone, else all that
     * may have been, which by itself only makes them be delivered alone.
     */
    abstract void suspect(Connection connection, int topicId, List<Taken> crashed) throws SQLException;

    /** @return whether the lane is still held */
    abstract boolean setAlone(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException;

    // Reading

    abstract Sighting read(
            Connection connection, int topicId, List<LaneCursor.Look> looks, List<Long> leaveOut, long maxBytes)
            throws SQLException;

    abstract List<LaneRow> readTimed(
            Connection connection, int topicId, List<Integer> lanes, List<Long> leaveOut, int limit, long maxBytes)
            throws SQLException;

    /** Microseconds until each topic has something to read beyond these numbers; topics without are left out. */
    abstract Map<Integer, Long> nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException;

    // Outcomes

    /** Removes rows that were delivered; if they were waiting, the next of each key becomes its head. */
    abstract Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            Map<Long, UUID> rows,
            boolean waiting,
            JdbcOptions.Archive archive)
            throws SQLException;

    /**
     * Moves rows that were not delivered.
     *
     */
    abstract Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException;

    /** Puts rows behind the head of their key; one that turns out to have none before it is the head. */
    abstract Written block(Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows)
            throws SQLException;

    // Ways to read an answer

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

    static Map<Integer, Set<OrderingKey>> heldKeys(ResultSet rows) throws SQLException {
        Map<Integer, Set<OrderingKey>> held = new HashMap<>();
        while (rows.next()) {
            held.computeIfAbsent(rows.getInt("lane"), lane -> new HashSet<>())
                    .add(new OrderingKey(rows.getString("tenant"), rows.getString("ordering_key")));
        }
        return held;
    }
}
