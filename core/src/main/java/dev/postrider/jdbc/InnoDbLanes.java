package dev.postrider.jdbc;

import dev.postrider.internal.store.Lane;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lanes on MySQL, MariaDB and H2, whose statements do not return the changed rows. Each operation is a short transaction that locks the
 * lanes first, so that its later statements see the current rows. In braces: the names of tables and indexes, and {@code {values}} for a
 * list of parameters.
 */
final class InnoDbLanes implements LaneStatements {

    static final String LOCK_FREE = """
            SELECT lane, revision, floor, owner, isolated, buffer FROM {lane}
            WHERE topic_id = ? AND until < UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND
            ORDER BY lane
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String TAKE =
            "UPDATE {lane} SET owner = ?, token = ?, until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, buffer = ?, isolated = NULL WHERE topic_id = ? AND lane = ?";

    /** Ordered by lane, as in every statement that locks several lanes. The caller appends the lock clause. */
    static final String LANES =
            "SELECT lane, token, revision, floor FROM {lane} FORCE INDEX (PRIMARY) WHERE topic_id = ? AND lane IN ({values}) ORDER BY lane";

    static final String PROLONG =
            "UPDATE {lane} FORCE INDEX (PRIMARY) SET until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND, buffer = ? WHERE topic_id = ? AND lane IN ({values})";

    static final String STORE_FLOOR = "UPDATE {lane} SET floor = GREATEST(floor, ?) WHERE topic_id = ? AND lane = ?";

    /** The caller appends the lock clause. */
    static final String LANE = "SELECT token FROM {lane} FORCE INDEX (PRIMARY) WHERE topic_id = ? AND lane = ?";

    static final String FREE = """
            UPDATE {lane} SET owner = NULL, token = NULL, until = UTC_TIMESTAMP(6), floor = GREATEST(floor, ?), buffer = 0, isolated = NULL
            WHERE topic_id = ? AND lane = ? AND token = ?
            """;

    static final String WITH_TOKEN = "SELECT topic_id, lane, token FROM {lane} WHERE token IN ({values})";

    static final String FREE_TOKEN = """
            UPDATE {lane} SET owner = NULL, token = NULL, until = UTC_TIMESTAMP(6), isolated = NULL
            WHERE topic_id = ? AND lane = ? AND token = ?
            """;

    static final String FIRST_IN_LANE = """
            SELECT seq FROM {message} FORCE INDEX ({index message_lane}) WHERE state = 'PENDING' AND topic_id = ? AND lane = ?
              AND seq > ? ORDER BY seq LIMIT ?
            """;

    static final String DUE_IN_LANE = """
            SELECT seq FROM {message}
            WHERE state IN ('SCHEDULED', 'RETRY') AND topic_id = ? AND lane = ? AND available_at <= UTC_TIMESTAMP(6) ORDER BY seq LIMIT ?
            """;

    static final String LOCK_FREE_ROWS =
            "SELECT seq FROM {message} FORCE INDEX (PRIMARY) WHERE seq IN ({values}) FOR UPDATE SKIP LOCKED";

    static final String SUSPECT_MANY =
            "UPDATE {message} FORCE INDEX (PRIMARY) SET crashes = CASE WHEN crashes < 2 THEN crashes + 1 ELSE crashes END WHERE seq IN ({values})";

    static final String SUSPECT_ONE = """
            UPDATE {message} FORCE INDEX (PRIMARY) SET crashes = crashes + 1
            WHERE seq IN ({values}) AND topic_id = ? AND lane IS NOT NULL AND state <> 'DEAD'
            """;

    static final String SET_ISOLATED = "UPDATE {lane} SET isolated = ? WHERE topic_id = ? AND lane = ? AND token = ?";

    /**
     * One name for all servers, because a number is proved by its age here. A server that lacks less than the last
     * {@link InnoDbLaneReads#OLDEST_TRANSACTION} of commits does not assign a proved number again.
     */
    static final String ANY_SERVER = "";

    /** A lane with its topic, because lane numbers repeat from topic to topic. */
    record LaneId(int topicId, int lane) {}

    private final SqlRunner sql;

    InnoDbLanes(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public List<AcquiredLane> acquire(
            Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException {
        boolean leftOver = request.supply() == Lane.Supply.UNCLAIMED;
        List<AcquiredLane> free = sql.query(
                connection,
                LOCK_FREE,
                binder -> binder.integer(topicId)
                        .micros(leftOver ? request.lease() : Duration.ZERO)
                        .integer(tokens.size()),
                rows -> free(rows, tokens));
        for (AcquiredLane lane : free) {
            int met = sql.update(
                    connection,
                    TAKE,
                    binder -> binder.text(request.worker())
                            .uuid(lane.token())
                            .micros(request.lease())
                            .integer(buffer)
                            .integer(topicId)
                            .integer(lane.lane()));
            SqlRunner.expect(1, met, "acquire a lane");
        }
        return free;
    }

    private static List<AcquiredLane> free(ResultSet rows, List<UUID> tokens) throws SQLException {
        List<AcquiredLane> free = new ArrayList<>();
        while (rows.next()) {
            long isolated = rows.getLong("isolated");
            Long suspect = rows.wasNull() ? null : isolated;
            free.add(new AcquiredLane(
                    rows.getInt("lane"),
                    tokens.get(free.size()),
                    rows.getInt("revision"),
                    rows.getLong("floor"),
                    rows.getString("owner") != null,
                    suspect,
                    rows.getInt("buffer")));
        }
        return free;
    }

    @Override
    public boolean renewalMeetsOutcomes() {
        return true;
    }

    @Override
    public Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait)
            throws SQLException {
        String lock = wait ? " FOR UPDATE" : " FOR UPDATE SKIP LOCKED";
        Map<UUID, Long> stored = new HashMap<>();
        Set<UUID> locked = new HashSet<>();
        for (Map.Entry<Integer, List<LaneCursor>> topic :
                byTopic(floors.byLane().keySet()).entrySet()) {
            Map<UUID, Standing> held = lanes(connection, topic.getKey(), topic.getValue(), lock);
            List<LaneCursor> kept = topic.getValue().stream()
                    .filter(lane -> held.containsKey(lane.token))
                    .toList();
            if (kept.size() < topic.getValue().size()) {
                locked.addAll(
                        lanes(connection, topic.getKey(), topic.getValue(), "").keySet());
                locked.removeAll(held.keySet());
            }
            if (kept.isEmpty()) {
                continue;
            }
            sql.update(
                    connection,
                    ValueList.in(PROLONG, kept.size()),
                    binder -> bindLanes(binder.micros(lease).integer(buffer).integer(topic.getKey()), kept));
            for (LaneCursor lane : kept) {
                long floor = floors.byLane().getOrDefault(lane, 0L);
                stored.put(lane.token, floor);
                if (floor > lane.storedFloor()) {
                    sql.update(
                            connection,
                            STORE_FLOOR,
                            binder -> binder.number(floor).integer(lane.topicId).integer(lane.lane));
                }
            }
        }
        return new Renewed(stored, locked, Horizon.NO_TRANSACTION);
    }

    @Override
    public Set<UUID> release(Connection connection, Floors floors) throws SQLException {
        List<LaneCursor> inOrder = floors.byLane().keySet().stream()
                .sorted(Comparator.comparingInt((LaneCursor lane) -> lane.topicId)
                        .thenComparingInt(lane -> lane.lane))
                .toList();
        Set<UUID> free = held(connection, inOrder, " FOR UPDATE SKIP LOCKED").keySet();
        for (LaneCursor lane : inOrder) {
            if (!free.contains(lane.token)) {
                continue;
            }
            sql.update(
                    connection,
                    FREE,
                    binder -> binder.number(floors.byLane().getOrDefault(lane, 0L))
                            .integer(lane.topicId)
                            .integer(lane.lane)
                            .uuid(lane.token));
        }
        return free;
    }

    @Override
    public void releaseTokens(Connection connection, Collection<UUID> tokens, boolean wait) throws SQLException {
        Map<UUID, LaneId> found = sql.query(
                connection,
                ValueList.in(WITH_TOKEN, tokens.size()),
                binder -> ValueList.bindUuids(binder, tokens),
                rows -> {
                    Map<UUID, LaneId> places = new HashMap<>();
                    while (rows.next()) {
                        places.put(
                                sql.readUuid(rows, "token"), new LaneId(rows.getInt("topic_id"), rows.getInt("lane")));
                    }
                    return places;
                });
        String lock = wait ? " FOR UPDATE" : " FOR UPDATE SKIP LOCKED";
        for (Map.Entry<UUID, LaneId> lane : found.entrySet()) {
            boolean met = sql.query(
                    connection,
                    LANE + lock,
                    binder -> binder.integer(lane.getValue().topicId())
                            .integer(lane.getValue().lane()),
                    ResultSet::next);
            if (!met) {
                continue;
            }
            sql.update(
                    connection,
                    FREE_TOKEN,
                    binder -> binder.integer(lane.getValue().topicId())
                            .integer(lane.getValue().lane())
                            .uuid(lane.getKey()));
        }
    }

    @Override
    public Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException {
        return new Standings(ANY_SERVER, held(connection, lanes, ""));
    }

    /** Returns the lanes that still have their token. */
    Map<UUID, Standing> held(Connection connection, Collection<LaneCursor> lanes, String lock) throws SQLException {
        Map<UUID, Standing> held = new HashMap<>();
        for (Map.Entry<Integer, List<LaneCursor>> topic : byTopic(lanes).entrySet()) {
            held.putAll(lanes(connection, topic.getKey(), topic.getValue(), lock));
        }
        return held;
    }

    private Map<UUID, Standing> lanes(Connection connection, int topicId, List<LaneCursor> lanes, String lock)
            throws SQLException {
        Set<UUID> wanted = lanes.stream().map(lane -> lane.token).collect(Collectors.toSet());
        return sql.query(
                connection,
                ValueList.in(LANES, lanes.size()) + lock,
                binder -> bindLanes(binder.integer(topicId), lanes),
                rows -> {
                    Map<UUID, Standing> held = new HashMap<>();
                    while (rows.next()) {
                        if (rows.getBytes("token") != null) {
                            UUID token = sql.readUuid(rows, "token");
                            if (wanted.contains(token)) {
                                held.put(token, new Standing(rows.getInt("revision"), rows.getLong("floor")));
                            }
                        }
                    }
                    return held;
                });
    }

    static Map<Integer, List<LaneCursor>> byTopic(Collection<LaneCursor> lanes) {
        return lanes.stream().collect(Collectors.groupingBy(lane -> lane.topicId, TreeMap::new, Collectors.toList()));
    }

    static Binder bindLanes(Binder binder, Collection<LaneCursor> lanes) throws SQLException {
        return ValueList.bindIntegers(
                binder, lanes.stream().map(lane -> lane.lane).toList());
    }

    @Override
    public void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException {
        Set<Long> many = new HashSet<>();
        Set<Long> one = new HashSet<>();
        for (AcquiredLane lane : crashed) {
            if (lane.isolated() != null) {
                one.add(lane.isolated());
            }
            many.addAll(sql.query(
                    connection,
                    FIRST_IN_LANE,
                    binder -> binder.integer(topicId)
                            .integer(lane.lane())
                            .number(lane.floor())
                            .integer(lane.buffer()),
                    SqlRunner::numbers));
            many.addAll(sql.query(
                    connection,
                    DUE_IN_LANE,
                    binder -> binder.integer(topicId).integer(lane.lane()).integer(lane.buffer()),
                    SqlRunner::numbers));
        }
        Set<Long> free = many.isEmpty() ? Set.of() : free(connection, many);
        if (!free.isEmpty()) {
            sql.update(
                    connection, ValueList.in(SUSPECT_MANY, free.size()), binder -> ValueList.bindNumbers(binder, free));
        }
        Set<Long> freeOne = one.isEmpty() ? Set.of() : free(connection, one);
        if (!freeOne.isEmpty()) {
            sql.update(
                    connection,
                    ValueList.in(SUSPECT_ONE, freeOne.size()),
                    binder -> ValueList.bindNumbers(binder, freeOne).integer(topicId));
        }
    }

    /** Locks and returns the rows that no other transaction has locked. A handler of a live node is processing a locked row. */
    Set<Long> free(Connection connection, Set<Long> seqs) throws SQLException {
        return sql.query(
                connection,
                ValueList.in(LOCK_FREE_ROWS, seqs.size()),
                binder -> ValueList.bindNumbers(binder, seqs),
                SqlRunner::numbers);
    }

    @Override
    public Noted setIsolated(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException {
        List<LaneCursor> one = List.of(lane);
        if (lanes(connection, lane.topicId, one, " FOR UPDATE SKIP LOCKED").isEmpty()) {
            return Noted.of(false, !lanes(connection, lane.topicId, one, "").isEmpty());
        }
        sql.update(
                connection,
                SET_ISOLATED,
                binder -> binder.numberOrNone(seq)
                        .integer(lane.topicId)
                        .integer(lane.lane)
                        .uuid(lane.token));
        return Noted.DONE;
    }
}
