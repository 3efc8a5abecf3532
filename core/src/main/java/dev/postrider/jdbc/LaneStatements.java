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
     * @param lockedHeads by number: the next row of its key, if it should have become the head and somebody has locked it
     * @param transaction the transaction's id, where it has a meaning
     */
    record Written(Map<Long, Boolean> keyHeld, Map<Long, Long> lockedHeads, long transaction) {

        Written(Map<Long, Boolean> keyHeld, long transaction) {
            this(keyHeld, Map.of(), transaction);
        }
    }

    /**
     * What became of a key whose head is gone.
     *
     * @param keyHeld whether messages of the key are waiting
     * @param lockedHead the next message, if it should have become the head and somebody has locked it
     */
    record Promotion(boolean keyHeld, @Nullable Long lockedHead) {}

    /**
     * @param floors by the token of each lane that was renewed, as they are stored now
     * @param locked the tokens of lanes that are still held, and that somebody has locked
     * @param transaction as in {@link Written}
     */
    record Renewed(Map<UUID, Long> floors, Set<UUID> locked, long transaction) {}

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

    private final Dialect dialect;
    private final NodeTable nodes;
    private final HeldKeys keys;

    LaneStatements(Dialect dialect) {
        this.dialect = dialect;
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

    /** The next message of the key becomes its head, unless somebody has locked it. In a transaction. */
    Promotion goOnWithout(Connection connection, int topicId, int lane, OrderingKey key) throws SQLException {
        return keys.goOnWithout(connection, topicId, lane, key);
    }

    /** The lanes that have keys without a head. Locks nothing. */
    Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes) throws SQLException {
        return keys.lanesWithoutHeads(connection, topicId, lanes);
    }

    /** As {@link #goOnWithout}, for all keys of a lane; answers the messages that somebody has locked. */
    Set<Long> goOnWithoutHeads(Connection connection, int topicId, int lane) throws SQLException {
        return keys.goOnWithoutHeads(connection, topicId, lane);
    }

    // Owning

    /** @param buffer how many messages the new holder may have in its hands, from the first moment on */
    abstract List<Taken> acquire(
            Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException;

    /**
     * Prolongs, and stores the floors that are higher than what is stored; answers for the lanes that are still held.
     *
     * @param wait whether to wait for a lane that somebody has locked, instead of leaving it out
     */
    abstract Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait)
            throws SQLException;

    /** Whether a renewal conflicts with outcomes that are being written in the lane, and so needs to wait for its turn. */
    abstract boolean renewalMeetsOutcomes();

    abstract void release(Connection connection, Floors floors) throws SQLException;

    /** Gives back lanes that were taken without an answer. */
    abstract void releaseTokens(Connection connection, Collection<UUID> tokens) throws SQLException;

    abstract Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException;

    /** The states of the rows that have these numbers and ids. Locks nothing. */
    abstract Map<Long, String> states(Connection connection, Map<Long, UUID> rows) throws SQLException;

    /** The keys that are held in each of these lanes. */
    abstract Map<Integer, Set<OrderingKey>> heldKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException;

    /**
     * Counts a crash against what the lost holders had in their hands: the one message, if it was delivered alone, else all that
     * may have been, which by itself only makes them be delivered alone. A message that somebody has locked is passed over.
     */
    abstract void suspect(Connection connection, int topicId, List<Taken> crashed) throws SQLException;

    /** @return whether the lane is still held */
    abstract boolean setAlone(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException;

    // Reading

    abstract Sighting read(Connection connection, int topicId, List<LaneCursor.Look> looks, long maxBytes)
            throws SQLException;

    /** What any of the looks leaves out. */
    static List<Long> leaveOut(List<LaneCursor.Look> looks) {
        return looks.stream().flatMap(look -> look.leaveOut().stream()).toList();
    }

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

    static Map<Integer, Set<OrderingKey>> heldKeys(ResultSet rows) throws SQLException {
        Map<Integer, Set<OrderingKey>> held = new HashMap<>();
        while (rows.next()) {
            held.computeIfAbsent(rows.getInt("lane"), lane -> new HashSet<>())
                    .add(new OrderingKey(rows.getString("tenant"), rows.getString("ordering_key")));
        }
        return held;
    }
}
