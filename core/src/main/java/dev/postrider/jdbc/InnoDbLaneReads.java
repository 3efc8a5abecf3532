package dev.postrider.jdbc;

import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.message.TopicName;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Reads of lanes on MySQL, MariaDB and H2. In braces: the names of tables and indexes, {@code {values}} for a list of parameters, and
 * {@code {tenant}} for a comparison.
 */
final class InnoDbLaneReads implements LaneReads {

    /** The highest visible number, the time of the database, and whether the topic is paused. */
    static final String SIGHT = """
            SELECT UTC_TIMESTAMP(6) AS now, (SELECT MAX(seq) FROM {message}) AS last_number,
              (SELECT paused FROM {topic} WHERE id = ?) AS paused
            """;

    /** The next messages of one lane. A union of these reads all lanes in one statement and one snapshot. */
    static final String NEXT_IN_LANE = """
            (SELECT seq, lane, {payload size} AS bytes FROM {message} FORCE INDEX ({index message_lane})
             WHERE state = 'PENDING' AND topic_id = ? AND lane = ? AND seq > ?
             ORDER BY seq LIMIT ?)
            """;

    static final String DUE = """
            SELECT seq, state, lane, tenant, ordering_key, {payload size} AS bytes FROM {message}
            WHERE state = ? AND topic_id = ? AND available_at <= UTC_TIMESTAMP(6) AND lane IN ({values})
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq LIMIT ?
            """;

    /** The messages of a blocked key in one state, in index order. {@code {tenant}} is a comparison. */
    static final String WAITING = """
            (SELECT seq, lane, state, {payload size} AS bytes FROM {message} FORCE INDEX ({index message_lane})
             WHERE state = '{state}' AND topic_id = ? AND lane = ? AND ordering_key = ? AND {tenant}
             ORDER BY seq LIMIT ?)
            """;

    /** The rows of a timed read, if they are still blocked or due. The caller adds the lock. */
    static final String LOCK_DUE = """
            SELECT seq FROM {message} FORCE INDEX (PRIMARY)
            WHERE seq IN ({values})
              AND (state = 'BLOCKED' OR state IN ('RETRY', 'SCHEDULED') AND available_at <= UTC_TIMESTAMP(6))
            """;

    static final String READ = "SELECT * FROM {message} WHERE seq IN ({values})";

    static final String NEXT_DUE = """
            SELECT t.id, t.paused,
                   (SELECT 0 FROM {message} m
                    WHERE m.state = 'PENDING' AND m.topic_id = t.id AND m.lane IN ({values}) AND m.seq > ? LIMIT 1) AS in_order,
                   (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), m.available_at) FROM {message} m
                    WHERE m.state = 'RETRY' AND m.topic_id = t.id ORDER BY m.available_at LIMIT 1) AS retry,
                   (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), m.available_at) FROM {message} m
                    WHERE m.state = 'SCHEDULED' AND m.topic_id = t.id ORDER BY m.available_at LIMIT 1) AS scheduled
            FROM {topic} t WHERE t.id = ?
            """;

    /** The states of rows that an outcome did not change: tells a locked row from a removed one. */
    static final String STATES = "SELECT seq, id, state FROM {message} WHERE seq IN ({values})";

    /**
     * The assumed maximum age of an open transaction, since these databases do not show open transactions. A full scan finds the
     * messages of an older one later.
     */
    static final Duration OLDEST_TRANSACTION = Duration.ofMinutes(1);

    /** How many due scheduled messages, and how many due heads, one read asks for. Each head costs a few statements. */
    private static final int MOST_TIMED = 32;

    /** A key with its lane, because keys repeat from topic to topic. */
    record LaneKey(InnoDbLanes.LaneId place, OrderingKey key) {

        static LaneKey read(ResultSet row) throws SQLException {
            return new LaneKey(
                    new InnoDbLanes.LaneId(row.getInt("topic_id"), row.getInt("lane")), InnoDbLaneReads.key(row));
        }
    }

    record Sized(long seq, int lane, RowState state, long bytes) {}

    private record DueRow(long seq, int lane, OrderingKey key, long bytes) {}

    private final SqlRunner sql;

    InnoDbLaneReads(SqlRunner sql) {
        this.sql = sql;
    }

    /**
     * Reads the sight before the messages: the second statement sees every transaction that had finished by then. A pause that begins
     * after the first statement does not stop this read.
     */
    @Override
    public LaneRead read(
            Connection connection, int topicId, TopicName topic, List<LaneCursor.LaneScan> scans, long maxBytes)
            throws SQLException {
        LaneRead laneRead = sight(connection, topicId);
        if (laneRead.paused()) {
            return laneRead;
        }
        String select = String.join(" UNION ALL ", Collections.nCopies(scans.size(), NEXT_IN_LANE));
        List<Sized> next = sql.query(
                connection,
                select,
                binder -> {
                    for (LaneCursor.LaneScan scan : scans) {
                        binder.integer(topicId)
                                .integer(scan.lane())
                                .number(scan.start())
                                .integer(scan.room() + scan.leaveOut().size());
                    }
                },
                rows -> sized(rows, RowState.PENDING));
        Set<Long> leaveOut = new HashSet<>(LaneReads.leaveOut(scans));
        next.removeIf(row -> leaveOut.contains(row.seq()));
        next.sort(Comparator.comparingLong(Sized::seq));
        Map<Integer, Integer> room = new HashMap<>();
        scans.forEach(scan -> room.put(scan.lane(), scan.room()));
        next.removeIf(row -> room.merge(row.lane(), -1, Integer::sum) < 0);
        return new LaneRead(laneRead.sight(), false, fetch(connection, topic, upToBudget(next, maxBytes)));
    }

    private LaneRead sight(Connection connection, int topicId) throws SQLException {
        return sql.query(connection, SIGHT, binder -> binder.integer(topicId), row -> {
            row.next();
            long now = micros(sql.readTime(row, "now"));
            long oldest = now - Binder.toMicros(OLDEST_TRANSACTION);
            Horizon.Sight sight = new Horizon.Sight(InnoDbLanes.ANY_SERVER, row.getLong("last_number"), oldest, now);
            return new LaneRead(sight, row.getBoolean("paused"), List.of());
        });
    }

    private static long micros(@Nullable Instant time) {
        return time == null ? 0 : ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    private static List<Sized> sized(ResultSet rows, @Nullable RowState state) throws SQLException {
        List<Sized> sized = new ArrayList<>();
        while (rows.next()) {
            sized.add(new Sized(
                    rows.getLong("seq"),
                    rows.getInt("lane"),
                    state == null ? RowState.read(rows) : state,
                    rows.getLong("bytes")));
        }
        return sized;
    }

    private static List<Long> upToBudget(List<Sized> rows, long maxBytes) {
        List<Long> seqs = new ArrayList<>();
        long bytes = 0;
        for (Sized row : rows) {
            if (bytes >= maxBytes) {
                break;
            }
            seqs.add(row.seq());
            bytes += row.bytes();
        }
        return seqs;
    }

    private List<LaneRow> fetch(Connection connection, TopicName topic, Collection<Long> seqs) throws SQLException {
        if (seqs.isEmpty()) {
            return List.of();
        }
        List<LaneRow> rows = sql.query(
                connection,
                ValueList.in(READ, seqs.size()),
                binder -> ValueList.bindNumbers(binder, seqs),
                found -> LaneReads.laneRows(found, sql, topic));
        rows.sort(BY_NUMBER);
        return rows;
    }

    @Override
    public List<LaneRow> readTimed(Connection connection, int topicId, TopicName topic, TimedScan scan)
            throws SQLException {
        Set<Long> inFlight = new HashSet<>(scan.leaveOut());
        List<Sized> due = new ArrayList<>();
        for (DueRow beside : due(connection, RowState.SCHEDULED, topicId, scan.lanes(), MOST_TIMED + inFlight.size())) {
            if (inFlight.contains(beside.seq())) {
                continue;
            }
            due.add(new Sized(beside.seq(), beside.lane(), RowState.SCHEDULED, beside.bytes()));
        }
        due.addAll(dueHeads(connection, topicId, scan.lanes(), inFlight));
        due.sort(Comparator.comparingLong(Sized::seq));
        return fetch(connection, topic, upToBudget(due, scan.maxBytes()));
    }

    /**
     * Returns the due heads of keys, each with the messages behind it. The head of each key is looked up once. If too few of the due
     * rows are heads, more rows are read, up to all of them: rows that are not heads must not hide the heads of other keys. Such rows
     * are rare, since a replayed message is blocked behind the head of its key.
     */
    private List<Sized> dueHeads(Connection connection, int topicId, List<Integer> lanes, Set<Long> inFlight)
            throws SQLException {
        Map<LaneKey, List<Sized>> waiting = new HashMap<>();
        int limit = MOST_TIMED + inFlight.size();
        while (true) {
            List<Sized> found = new ArrayList<>();
            int heads = 0;
            List<DueRow> rows = due(connection, RowState.RETRY, topicId, lanes, limit);
            for (DueRow row : rows) {
                if (heads < MOST_TIMED && !inFlight.contains(row.seq())) {
                    LaneKey key = new LaneKey(new InnoDbLanes.LaneId(topicId, row.lane()), row.key());
                    List<Sized> ofKey = waiting.get(key);
                    if (ofKey == null) {
                        ofKey = waiting(connection, key, BEHIND_HEAD);
                        waiting.put(key, ofKey);
                    }
                    if (!ofKey.isEmpty() && ofKey.get(0).seq() == row.seq()) {
                        found.addAll(ofKey);
                        heads++;
                    }
                }
            }
            if (heads == MOST_TIMED || rows.size() < limit) {
                return found;
            }
            limit *= 4;
        }
    }

    private List<DueRow> due(Connection connection, RowState state, int topicId, List<Integer> lanes, int limit)
            throws SQLException {
        return sql.query(
                connection,
                ValueList.in(DUE, lanes.size()),
                binder -> ValueList.bindIntegers(binder.text(state.name()).integer(topicId), lanes)
                        .integer(topicId)
                        .integer(limit),
                rows -> {
                    List<DueRow> due = new ArrayList<>();
                    while (rows.next()) {
                        due.add(new DueRow(rows.getLong("seq"), rows.getInt("lane"), key(rows), rows.getLong("bytes")));
                    }
                    return due;
                });
    }

    private static OrderingKey key(ResultSet row) throws SQLException {
        String key = row.getString("ordering_key");
        return new OrderingKey(row.getString("tenant"), key == null ? "" : key);
    }

    /** Returns the retrying, blocked and parked messages of a key, lowest number first. */
    List<Sized> waiting(Connection connection, LaneKey key, int limit) throws SQLException {
        String tenant = key.key().tenant();
        String one = WAITING.replace("{tenant}", tenant == null ? "tenant IS NULL" : "tenant = ?");
        List<RowState> states = List.of(RowState.RETRY, RowState.BLOCKED, RowState.PARKED);
        String all = states.stream()
                .map(state -> one.replace("{state}", state.name()))
                .collect(Collectors.joining(" UNION ALL "));
        List<Sized> waiting = sql.query(
                connection,
                all,
                binder -> {
                    for (int i = 0; i < states.size(); i++) {
                        binder.integer(key.place().topicId())
                                .integer(key.place().lane())
                                .text(key.key().key());
                        if (tenant != null) {
                            binder.text(tenant);
                        }
                        binder.integer(limit);
                    }
                },
                rows -> sized(rows, null));
        waiting.sort(Comparator.comparingLong(Sized::seq));
        return waiting.size() > limit ? waiting.subList(0, limit) : waiting;
    }

    @Override
    public Set<Long> lockDue(Connection connection, List<Long> seqs) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(LOCK_DUE, seqs.size()) + sql.kind().existenceLockIfFree(),
                binder -> ValueList.bindNumbers(binder, seqs),
                SqlRunner::numbers);
    }

    @Override
    public DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException {
        Map<Integer, Long> due = new HashMap<>();
        Set<Integer> paused = new HashSet<>();
        for (Map.Entry<Integer, List<LaneCursor>> topic :
                InnoDbLanes.byTopic(starts.keySet()).entrySet()) {
            long start = topic.getValue().stream()
                    .mapToLong(lane -> starts.getOrDefault(lane, 0L))
                    .min()
                    .orElse(0);
            String select = ValueList.in(NEXT_DUE, topic.getValue().size());
            sql.query(
                    connection,
                    select,
                    binder -> InnoDbLanes.bindLanes(binder, topic.getValue())
                            .number(start)
                            .integer(topic.getKey()),
                    rows -> {
                        while (rows.next()) {
                            if (rows.getBoolean("paused")) {
                                paused.add(rows.getInt("id"));
                                continue;
                            }
                            earlier(due, rows, "in_order");
                            earlier(due, rows, "retry");
                            earlier(due, rows, "scheduled");
                        }
                        return due;
                    });
        }
        return new DueTopics(due, paused);
    }

    private static void earlier(Map<Integer, Long> due, ResultSet rows, String column) throws SQLException {
        long micros = rows.getLong(column);
        if (!rows.wasNull()) {
            due.merge(rows.getInt("id"), micros, Math::min);
        }
    }

    @Override
    public Map<Long, RowState> states(Connection connection, Map<Long, UUID> rows) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(STATES, rows.size()),
                binder -> ValueList.bindNumbers(binder, rows.keySet()),
                found -> LaneReads.states(found, rows, sql));
    }
}
