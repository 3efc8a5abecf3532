package dev.postrider.jdbc;

import dev.postrider.store.Lane;
import dev.postrider.store.OrderingKey;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Lanes on PostgreSQL: one statement for each operation, so that a frozen process keeps no lock. */
final class PostgresLanes extends LaneStatements {

    private final Dialect dialect;
    private final String lockTimeout;

    /** @param lockTimeout how long a statement may wait for a lane */
    PostgresLanes(Dialect dialect, Duration lockTimeout) {
        super(dialect);
        this.dialect = dialect;
        this.lockTimeout = Math.max(lockTimeout.toMillis(), 1) + "ms";
    }

    // Owning

    @Override
    List<AcquiredLane> acquire(Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException {
        boolean leftOver = request.supply() == Lane.Supply.UNCLAIMED;
        return dialect.query(
                connection,
                PostgresLaneSql.ACQUIRE,
                binder -> binder.integer(topicId)
                        .micros(leftOver ? request.lease() : Duration.ZERO)
                        .integer(tokens.size())
                        .text(request.worker())
                        .array("uuid", tokens.toArray())
                        .micros(request.lease())
                        .integer(buffer),
                this::taken);
    }

    private List<AcquiredLane> taken(ResultSet rows) throws SQLException {
        List<AcquiredLane> taken = new ArrayList<>();
        while (rows.next()) {
            long alone = rows.getLong("alone");
            Long suspect = rows.wasNull() ? null : alone;
            taken.add(new AcquiredLane(
                    rows.getInt("lane"),
                    dialect.readUuid(rows, "token"),
                    rows.getInt("revision"),
                    rows.getLong("floor"),
                    rows.getBoolean("crashed"),
                    suspect,
                    rows.getInt("buffer")));
        }
        return taken;
    }

    @Override
    boolean renewalMeetsOutcomes() {
        return false;
    }

    @Override
    Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait) throws SQLException {
        return dialect.query(
                connection,
                PostgresLaneSql.RENEW,
                binder -> floors(binder, floors).micros(lease).integer(buffer).text(floors.server()),
                rows -> {
                    Map<UUID, Long> stored = new HashMap<>();
                    Set<UUID> locked = new HashSet<>();
                    long transaction = Horizon.NO_TRANSACTION;
                    while (rows.next()) {
                        UUID token = dialect.readUuid(rows, "token");
                        long floor = rows.getLong("floor");
                        if (rows.wasNull()) {
                            locked.add(token);
                        } else {
                            stored.put(token, floor);
                            transaction = rows.getLong("transaction");
                        }
                    }
                    return new Renewed(stored, locked, transaction);
                });
    }

    @Override
    void release(Connection connection, Floors floors) throws SQLException {
        dialect.update(
                connection,
                PostgresLaneSql.RELEASE,
                binder -> floors(binder, floors).text(lockTimeout).text(floors.server()));
    }

    private static Binder floors(Binder binder, Floors floors) throws SQLException {
        return lanes(binder, floors.byLane().keySet())
                .array("int8", floors.byLane().values().toArray());
    }

    private static Binder lanes(Binder binder, Collection<LaneCursor> lanes) throws SQLException {
        return binder.array("int4", column(lanes, lane -> lane.topicId))
                .array("int2", column(lanes, lane -> lane.lane))
                .array("uuid", column(lanes, lane -> lane.token));
    }

    @Override
    void releaseTokens(Connection connection, Collection<UUID> tokens) throws SQLException {
        dialect.update(
                connection,
                PostgresLaneSql.RELEASE_TOKENS,
                binder -> binder.array("uuid", tokens.toArray()).text(lockTimeout));
    }

    @Override
    Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException {
        return dialect.query(connection, PostgresLaneSql.STANDINGS, binder -> lanes(binder, lanes), rows -> {
            String server = "";
            Map<UUID, Standing> byToken = new HashMap<>();
            while (rows.next()) {
                server = rows.getString("server");
                byToken.put(
                        dialect.readUuid(rows, "token"), new Standing(rows.getInt("revision"), rows.getLong("floor")));
            }
            return new Standings(server, byToken);
        });
    }

    @Override
    Map<Long, String> states(Connection connection, Map<Long, UUID> rows) throws SQLException {
        return dialect.query(
                connection,
                PostgresLaneSql.STATES,
                binder -> binder.array("int8", rows.keySet().toArray()),
                found -> states(found, rows));
    }

    @Override
    Map<Integer, Set<OrderingKey>> blockedKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException {
        return dialect.query(
                connection,
                PostgresLaneSql.BLOCKED_KEYS,
                binder -> binder.integer(topicId).array("int2", lanes.toArray()),
                LaneStatements::blockedKeys);
    }

    @Override
    void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException {
        Object[] one = crashed.stream()
                .map(AcquiredLane::alone)
                .filter(noted -> noted != null)
                .toArray();
        if (one.length > 0) {
            dialect.update(
                    connection,
                    PostgresLaneSql.SUSPECT_ONE,
                    binder -> binder.array("int8", one).integer(topicId));
        }
        Object[] lanes = column(crashed, AcquiredLane::lane);
        Object[] buffers = column(crashed, AcquiredLane::buffer);
        dialect.update(
                connection,
                PostgresLaneSql.SUSPECT_MANY,
                binder -> binder.array("int2", lanes)
                        .array("int8", column(crashed, AcquiredLane::floor))
                        .array("int4", buffers)
                        .integer(topicId)
                        .array("int2", lanes)
                        .array("int4", buffers)
                        .integer(topicId));
    }

    @Override
    boolean setIsolated(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException {
        return dialect.update(
                        connection,
                        PostgresLaneSql.SET_ISOLATED,
                        binder -> binder.numberOrNone(seq)
                                .integer(lane.topicId)
                                .integer(lane.lane)
                                .uuid(lane.token)
                                .text(lockTimeout))
                == 1;
    }

    // Reading

    @Override
    LaneRead read(Connection connection, int topicId, List<LaneCursor.Scan> scans, long maxBytes) throws SQLException {
        List<Long> leaveOut = leaveOut(scans);
        Object[] lanes = column(scans, LaneCursor.Scan::lane);
        Object[] starts = column(scans, LaneCursor.Scan::start);
        Object[] rooms = column(scans, LaneCursor.Scan::room);
        long rows = scans.stream().mapToLong(LaneCursor.Scan::room).sum();
        Optional<LaneRead> small = dialect.query(
                connection,
                PostgresLaneSql.READ,
                binder -> binder.integer(topicId)
                        .array("int2", lanes)
                        .array("int8", starts)
                        .array("int4", rooms)
                        .number(maxBytes / Math.max(rows, 1))
                        .integer(topicId)
                        .array("int8", leaveOut.toArray()),
                this::laneRead);
        if (small.isPresent()) {
            return small.get();
        }
        return dialect.query(
                        connection,
                        PostgresLaneSql.READ_WITHIN,
                        binder -> binder.integer(topicId)
                                .array("int2", lanes)
                                .array("int8", starts)
                                .array("int4", rooms)
                                .integer(topicId)
                                .array("int8", leaveOut.toArray())
                                .number(maxBytes),
                        this::laneRead)
                .orElseThrow();
    }

    /** Reads the result of a read. Empty if a payload was too large to be returned. */
    private Optional<LaneRead> laneRead(ResultSet rows) throws SQLException {
        rows.next();
        Horizon.Sight sight = new Horizon.Sight(
                rows.getString("server"), rows.getLong("last_number"), rows.getLong("finished_before"), null);
        boolean paused = rows.getBoolean("paused");
        List<LaneRow> found = new ArrayList<>();
        rows.getLong("seq");
        if (rows.wasNull()) {
            return Optional.of(new LaneRead(sight, paused, found));
        }
        ClaimedRow.Reader reader = new ClaimedRow.Reader(rows, dialect);
        int lane = rows.findColumn("lane");
        int payload = rows.findColumn("payload");
        do {
            if (rows.getBytes(payload) == null) {
                return Optional.empty();
            }
            found.add(new LaneRow(rows.getInt(lane), "PENDING", reader.read(Instant.EPOCH)));
        } while (rows.next());
        found.sort(BY_NUMBER);
        return Optional.of(new LaneRead(sight, paused, found));
    }

    @Override
    List<LaneRow> readTimed(
            Connection connection, int topicId, List<Integer> lanes, List<Long> leaveOut, int limit, long maxBytes)
            throws SQLException {
        return dialect.query(
                connection,
                PostgresLaneSql.READ_TIMED,
                binder -> binder.array("int2", lanes.toArray())
                        .integer(topicId)
                        .array("int8", leaveOut.toArray())
                        .integer(limit)
                        .integer(topicId)
                        .integer(BEHIND_HEAD)
                        .integer(topicId)
                        .number(maxBytes),
                rows -> laneRows(rows, dialect));
    }

    @Override
    DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException {
        return dialect.query(
                connection,
                PostgresLaneSql.NEXT_DUE,
                binder -> binder.array("int4", column(starts.keySet(), lane -> lane.topicId))
                        .array("int2", column(starts.keySet(), lane -> lane.lane))
                        .array("int8", starts.values().toArray()),
                rows -> {
                    Map<Integer, Long> due = new HashMap<>();
                    Set<Integer> paused = new HashSet<>();
                    while (rows.next()) {
                        int topicId = rows.getInt("topic_id");
                        if (rows.getBoolean("paused")) {
                            paused.add(topicId);
                        }
                        long micros = rows.getLong("micros");
                        if (!rows.wasNull()) {
                            due.put(topicId, micros);
                        }
                    }
                    return new DueTopics(due, paused);
                });
    }

    // Outcomes

    @Override
    Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            Map<Long, UUID> rows,
            boolean waiting,
            JdbcOptions.Archive archive)
            throws SQLException {
        boolean withPayload = archive == JdbcOptions.Archive.FULL;
        Dialect.Bind bind = archive == JdbcOptions.Archive.OFF
                ? binder -> rows(fence(binder, fence), rows)
                : binder -> rows(fence(binder, fence), rows).flag(withPayload);
        if (waiting) {
            String statement = archive == JdbcOptions.Archive.OFF
                    ? PostgresLaneSql.DELETE_WAITING
                    : PostgresLaneSql.ARCHIVE_WAITING;
            return written(connection, statement, bind);
        }
        String statement = archive == JdbcOptions.Archive.OFF ? PostgresLaneSql.DELETE : PostgresLaneSql.ARCHIVE;
        return dialect.query(connection, statement, bind, answer -> acknowledged(answer, rows.keySet()));
    }

    /** Reads the result of an acknowledgement. The count is enough in the usual case that all rows were removed. */
    private static Written acknowledged(ResultSet answer, Set<Long> sent) throws SQLException {
        answer.next();
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        if (answer.getInt("met") == sent.size()) {
            sent.forEach(seq -> keyBlocked.put(seq, false));
        } else if (answer.getArray("seqs") != null) {
            for (Long seq : (Long[]) answer.getArray("seqs").getArray()) {
                keyBlocked.put(seq, false);
            }
        }
        return new Written(keyBlocked, Map.of(), answer.getLong("transaction"));
    }

    @Override
    Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException {
        return written(
                connection,
                leaving == Leaving.THEIR_KEY ? PostgresLaneSql.MOVE_OUT : PostgresLaneSql.MOVE,
                binder -> fence(binder, fence)
                        .array("int8", column(rows, Move::seq))
                        .array("text", leaving.states().toArray())
                        .array("int8", column(rows, Move::seq))
                        .array("uuid", column(rows, Move::id))
                        .array("text", column(rows, Move::state))
                        .array("int4", column(rows, Move::attempts))
                        .array("int8", column(rows, row -> row.delay() == null ? null : Binder.toMicros(row.delay())))
                        .array("text", column(rows, Move::error))
                        .array("text", column(rows, Move::reason))
                        .array("text", column(rows, Move::fingerprint)));
    }

    @Override
    Written block(Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows) throws SQLException {
        return written(connection, PostgresLaneSql.BLOCK, binder -> rows(fence(binder, fence), rows));
    }

    private Binder fence(Binder binder, Collection<LaneCursor> fence) throws SQLException {
        return lanes(binder, fence)
                .array("int4", column(fence, LaneCursor::revision))
                .text(lockTimeout);
    }

    private static Binder rows(Binder binder, Map<Long, UUID> rows) throws SQLException {
        Object[] seqs = rows.keySet().toArray();
        return binder.array("int8", seqs)
                .array("int8", seqs)
                .array("uuid", rows.values().toArray());
    }

    private Written written(Connection connection, String statement, Dialect.Bind bind) throws SQLException {
        return dialect.query(connection, statement, bind, rows -> {
            Map<Long, Boolean> keyBlocked = new HashMap<>();
            Map<Long, Long> lockedHeads = new HashMap<>();
            long transaction = Horizon.NO_TRANSACTION;
            while (rows.next()) {
                long seq = rows.getLong("seq");
                keyBlocked.put(seq, rows.getBoolean("key_held"));
                transaction = rows.getLong("transaction");
                long head = rows.getLong("locked_head");
                if (!rows.wasNull()) {
                    lockedHeads.put(seq, head);
                }
            }
            return new Written(keyBlocked, lockedHeads, transaction);
        });
    }

    private static <T> @Nullable Object[] column(Collection<T> rows, Function<T, @Nullable Object> value) {
        return rows.stream().map(value).toArray();
    }
}
