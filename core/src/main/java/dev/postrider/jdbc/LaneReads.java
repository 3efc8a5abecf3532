package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** The statements that read the messages of lanes. */
interface LaneReads {

    /** How many messages behind the head of a blocked key are read together with the head. */
    int BEHIND_HEAD = 50;

    /** A row of a lane, and its state at the read. */
    record LaneRow(int lane, RowState state, ClaimedRow row) {}

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

    LaneRead read(Connection connection, int topicId, TopicName topic, List<LaneCursor.LaneScan> scans, long maxBytes)
            throws SQLException;

    /** Returns the numbers that any of the scans leaves out. */
    static List<Long> leaveOut(List<LaneCursor.LaneScan> scans) {
        return scans.stream().flatMap(scan -> scan.leaveOut().stream()).toList();
    }

    /**
     * A scan of lanes for due messages outside the order.
     *
     * @param leaveOut the numbers of the messages in flight
     * @param limit the most due messages; each head of a key brings the messages behind it too
     */
    record TimedScan(List<Integer> lanes, List<Long> leaveOut, int limit, long maxBytes) {}

    List<LaneRow> readTimed(Connection connection, int topicId, TopicName topic, TimedScan scan) throws SQLException;

    /**
     * Locks rows of a timed read for an instant, and returns those that may be taken: no other transaction has locked them, and they are
     * still blocked, or due. An application cancels a message in a transaction that may stay open: it locks the row, and then compares the
     * due time. So a message is taken before it is due for cancelling, or not at all.
     */
    Set<Long> lockDue(Connection connection, List<Long> seqs) throws SQLException;

    /** Returns when there are messages to read above these numbers. */
    DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException;

    /** Returns the states of the rows with these numbers and ids. Locks nothing. */
    Map<Long, RowState> states(Connection connection, Map<Long, UUID> rows) throws SQLException;

    /** Returns the ids of messages by their numbers. */
    static Map<Long, UUID> ids(Collection<Claim> claims) {
        Map<Long, UUID> ids = new HashMap<>();
        claims.forEach(claim -> ids.put(claim.seq(), claim.message().id().value()));
        return ids;
    }

    Comparator<LaneRow> BY_NUMBER = Comparator.comparingLong(row -> row.row().seq());

    static List<LaneRow> laneRows(ResultSet rows, SqlRunner sql, TopicName topic) throws SQLException {
        ClaimedRow.Reader reader = new ClaimedRow.Reader(rows, sql, topic);
        int lane = rows.findColumn("lane");
        int state = rows.findColumn("state");
        List<LaneRow> found = new ArrayList<>();
        while (rows.next()) {
            found.add(new LaneRow(
                    rows.getInt(lane), RowState.valueOf(rows.getString(state)), reader.read(Instant.EPOCH)));
        }
        return found;
    }

    static Map<Long, RowState> states(ResultSet found, Map<Long, UUID> wanted, SqlRunner sql) throws SQLException {
        Map<Long, RowState> states = new HashMap<>();
        while (found.next()) {
            long seq = found.getLong("seq");
            if (sql.readUuid(found, "id").equals(wanted.get(seq))) {
                states.put(seq, RowState.read(found));
            }
        }
        return states;
    }
}
