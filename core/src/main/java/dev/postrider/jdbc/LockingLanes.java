package dev.postrider.jdbc;

import dev.postrider.store.Lane;
import dev.postrider.store.OrderingKey;
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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lanes on databases whose statements do not return the changed rows. Each operation is a short transaction that locks the lanes
 * first, so that its later statements see the current rows.
 */
final class LockingLanes extends LaneStatements {

    /**
     * The assumed maximum age of an open transaction, since these databases do not show open transactions. A full scan finds the
     * messages of an older one later.
     */
    private static final Duration OLDEST_TRANSACTION = Duration.ofMinutes(1);

    /**
     * One name for all servers, because a number is proved by its age here. A server that lacks less than the last
     * {@link #OLDEST_TRANSACTION} of commits does not assign a proved number again.
     */
    private static final String ANY_SERVER = "";

    /** How many due scheduled messages, and how many due heads, one read asks for. Each head costs a few statements. */
    private static final int MOST_TIMED = 32;

    /** A lane with its topic, because lane numbers and keys repeat from topic to topic. */
    private record Place(int topicId, int lane) {}

    private record Key(Place place, OrderingKey key) {}

    private record Found(long seq, UUID id, String state, Key key) {}

    private record Sized(long seq, int lane, String state, long bytes) {}

    private final LockingDialect dialect;

    LockingLanes(LockingDialect dialect) {
        super(dialect);
        this.dialect = dialect;
    }

    private String byLane(String statement) {
        return statement.replace("{by lane}", dialect.byLane());
    }

    // Owning

    @Override
    List<AcquiredLane> acquire(Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException {
        boolean leftOver = request.supply() == Lane.Supply.UNCLAIMED;
        List<AcquiredLane> free = dialect.query(
                connection,
                LockingLaneSql.LOCK_FREE,
                binder -> binder.integer(topicId)
                        .micros(leftOver ? request.lease() : Duration.ZERO)
                        .integer(tokens.size()),
                rows -> free(rows, tokens));
        for (AcquiredLane lane : free) {
            int met = dialect.update(
                    connection,
                    LockingLaneSql.TAKE,
                    binder -> binder.text(request.worker())
                            .uuid(lane.token())
                            .micros(request.lease())
                            .integer(buffer)
                            .integer(topicId)
                            .integer(lane.lane()));
            LockingDialect.expect(1, met, "acquire a lane");
        }
        return free;
    }

    private static List<AcquiredLane> free(ResultSet rows, List<UUID> tokens) throws SQLException {
        List<AcquiredLane> free = new ArrayList<>();
        while (rows.next()) {
            long alone = rows.getLong("alone");
            Long suspect = rows.wasNull() ? null : alone;
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
    boolean renewalMeetsOutcomes() {
        return true;
    }

    @Override
    Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait) throws SQLException {
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
            dialect.update(
                    connection,
                    LockingDialect.in(LockingLaneSql.PROLONG, kept.size()),
                    binder -> bindLanes(binder.micros(lease).integer(buffer).integer(topic.getKey()), kept));
            for (LaneCursor lane : kept) {
                long floor = floors.byLane().getOrDefault(lane, 0L);
                stored.put(lane.token, floor);
                if (floor > lane.storedFloor()) {
                    dialect.update(
                            connection,
                            LockingLaneSql.STORE_FLOOR,
                            binder -> binder.number(floor).integer(lane.topicId).integer(lane.lane));
                }
            }
        }
        return new Renewed(stored, locked, Horizon.NO_TRANSACTION);
    }

    @Override
    void release(Connection connection, Floors floors) throws SQLException {
        List<LaneCursor> inOrder = floors.byLane().keySet().stream()
                .sorted(Comparator.comparingInt((LaneCursor lane) -> lane.topicId)
                        .thenComparingInt(lane -> lane.lane))
                .toList();
        for (LaneCursor lane : inOrder) {
            dialect.update(
                    connection,
                    LockingLaneSql.FREE,
                    binder -> binder.number(floors.byLane().getOrDefault(lane, 0L))
                            .integer(lane.topicId)
                            .integer(lane.lane)
                            .uuid(lane.token));
        }
    }

    @Override
    void releaseTokens(Connection connection, Collection<UUID> tokens) throws SQLException {
        Map<UUID, Place> found = dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.WITH_TOKEN, tokens.size()),
                binder -> {
                    for (UUID token : tokens) {
                        binder.uuid(token);
                    }
                },
                rows -> {
                    Map<UUID, Place> places = new HashMap<>();
                    while (rows.next()) {
                        places.put(
                                dialect.readUuid(rows, "token"),
                                new Place(rows.getInt("topic_id"), rows.getInt("lane")));
                    }
                    return places;
                });
        for (Map.Entry<UUID, Place> lane : found.entrySet()) {
            dialect.update(
                    connection,
                    LockingLaneSql.FREE_TOKEN,
                    binder -> binder.integer(lane.getValue().topicId())
                            .integer(lane.getValue().lane())
                            .uuid(lane.getKey()));
        }
    }

    @Override
    Map<Long, String> states(Connection connection, Map<Long, UUID> rows) throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.STATES, rows.size()),
                binder -> LockingDialect.bindNumbers(binder, rows.keySet()),
                found -> states(found, rows));
    }

    @Override
    Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException {
        return new Standings(ANY_SERVER, held(connection, lanes, ""));
    }

    /** Returns the lanes that still have their token. */
    private Map<UUID, Standing> held(Connection connection, Collection<LaneCursor> lanes, String lock)
            throws SQLException {
        Map<UUID, Standing> held = new HashMap<>();
        for (Map.Entry<Integer, List<LaneCursor>> topic : byTopic(lanes).entrySet()) {
            held.putAll(lanes(connection, topic.getKey(), topic.getValue(), lock));
        }
        return held;
    }

    private Map<UUID, Standing> lanes(Connection connection, int topicId, List<LaneCursor> lanes, String lock)
            throws SQLException {
        Set<UUID> wanted = lanes.stream().map(lane -> lane.token).collect(Collectors.toSet());
        return dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.LANES, lanes.size()) + lock,
                binder -> bindLanes(binder.integer(topicId), lanes),
                rows -> {
                    Map<UUID, Standing> held = new HashMap<>();
                    while (rows.next()) {
                        if (rows.getBytes("token") != null) {
                            UUID token = dialect.readUuid(rows, "token");
                            if (wanted.contains(token)) {
                                held.put(token, new Standing(rows.getInt("revision"), rows.getLong("floor")));
                            }
                        }
                    }
                    return held;
                });
    }

    private static Map<Integer, List<LaneCursor>> byTopic(Collection<LaneCursor> lanes) {
        return lanes.stream().collect(Collectors.groupingBy(lane -> lane.topicId, TreeMap::new, Collectors.toList()));
    }

    private static Binder bindLanes(Binder binder, Collection<LaneCursor> lanes) throws SQLException {
        return LockingDialect.bindIntegers(
                binder, lanes.stream().map(lane -> lane.lane).toList());
    }

    @Override
    Map<Integer, Set<OrderingKey>> blockedKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.BLOCKED_KEYS, lanes.size()),
                binder -> LockingDialect.bindIntegers(binder.integer(topicId), lanes),
                LaneStatements::blockedKeys);
    }

    @Override
    void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException {
        Set<Long> many = new HashSet<>();
        Set<Long> one = new HashSet<>();
        for (AcquiredLane lane : crashed) {
            if (lane.alone() != null) {
                one.add(lane.alone());
            }
            many.addAll(dialect.query(
                    connection,
                    byLane(LockingLaneSql.FIRST_IN_LANE),
                    binder -> binder.integer(topicId)
                            .integer(lane.lane())
                            .number(lane.floor())
                            .integer(lane.buffer()),
                    Dialect::numbers));
            many.addAll(dialect.query(
                    connection,
                    LockingLaneSql.DUE_IN_LANE,
                    binder -> binder.integer(topicId).integer(lane.lane()).integer(lane.buffer()),
                    Dialect::numbers));
        }
        Set<Long> free = many.isEmpty() ? Set.of() : free(connection, many);
        if (!free.isEmpty()) {
            dialect.update(
                    connection,
                    LockingDialect.in(LockingLaneSql.SUSPECT_MANY, free.size()),
                    binder -> LockingDialect.bindNumbers(binder, free));
        }
        Set<Long> freeOne = one.isEmpty() ? Set.of() : free(connection, one);
        if (!freeOne.isEmpty()) {
            dialect.update(
                    connection,
                    LockingDialect.in(LockingLaneSql.SUSPECT_ONE, freeOne.size()),
                    binder -> LockingDialect.bindNumbers(binder, freeOne).integer(topicId));
        }
    }

    /** Locks and returns the rows that no other transaction has locked. A handler of a live node is processing a locked row. */
    private Set<Long> free(Connection connection, Set<Long> seqs) throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.LOCK_FREE_ROWS, seqs.size()),
                binder -> LockingDialect.bindNumbers(binder, seqs),
                Dialect::numbers);
    }

    @Override
    boolean setIsolated(Connection connection, LaneCursor lane, @Nullable Long seq) throws SQLException {
        if (lanes(connection, lane.topicId, List.of(lane), " FOR UPDATE").isEmpty()) {
            return false;
        }
        dialect.update(
                connection,
                LockingLaneSql.SET_ISOLATED,
                binder -> binder.numberOrNone(seq)
                        .integer(lane.topicId)
                        .integer(lane.lane)
                        .uuid(lane.token));
        return true;
    }

    // Reading

    /**
     * Reads the sight before the messages: the second statement sees every transaction that had finished by then. A pause that begins
     * after the first statement does not stop this read.
     */
    @Override
    LaneRead read(Connection connection, int topicId, List<LaneCursor.Scan> scans, long maxBytes) throws SQLException {
        LaneRead laneRead = sight(connection, topicId);
        if (laneRead.paused()) {
            return laneRead;
        }
        String select =
                String.join(" UNION ALL ", Collections.nCopies(scans.size(), byLane(LockingLaneSql.NEXT_IN_LANE)));
        List<Sized> next = dialect.query(
                connection,
                select,
                binder -> {
                    for (LaneCursor.Scan scan : scans) {
                        binder.integer(topicId)
                                .integer(scan.lane())
                                .number(scan.start())
                                .integer(scan.room() + scan.leaveOut().size());
                    }
                },
                rows -> sized(rows, "PENDING"));
        Set<Long> leaveOut = new HashSet<>(leaveOut(scans));
        next.removeIf(row -> leaveOut.contains(row.seq()));
        next.sort(Comparator.comparingLong(Sized::seq));
        Map<Integer, Integer> room = new HashMap<>();
        scans.forEach(scan -> room.put(scan.lane(), scan.room()));
        next.removeIf(row -> room.merge(row.lane(), -1, Integer::sum) < 0);
        return new LaneRead(laneRead.sight(), false, fetch(connection, upToBudget(next, maxBytes)));
    }

    private LaneRead sight(Connection connection, int topicId) throws SQLException {
        return dialect.query(connection, LockingLaneSql.SIGHT, binder -> binder.integer(topicId), row -> {
            row.next();
            long now = micros(dialect.readTime(row, "now"));
            long oldest = now - Binder.toMicros(OLDEST_TRANSACTION);
            Horizon.Sight sight = new Horizon.Sight(ANY_SERVER, row.getLong("last_number"), oldest, now);
            return new LaneRead(sight, row.getBoolean("paused"), List.of());
        });
    }

    private static long micros(@Nullable Instant time) {
        return time == null ? 0 : ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    private static List<Sized> sized(ResultSet rows, @Nullable String state) throws SQLException {
        List<Sized> sized = new ArrayList<>();
        while (rows.next()) {
            sized.add(new Sized(
                    rows.getLong("seq"),
                    rows.getInt("lane"),
                    state == null ? rows.getString("state") : state,
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

    private List<LaneRow> fetch(Connection connection, Collection<Long> seqs) throws SQLException {
        if (seqs.isEmpty()) {
            return List.of();
        }
        List<LaneRow> rows = dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.READ, seqs.size()),
                binder -> LockingDialect.bindNumbers(binder, seqs),
                found -> laneRows(found, dialect));
        rows.sort(BY_NUMBER);
        return rows;
    }

    @Override
    List<LaneRow> readTimed(
            Connection connection, int topicId, List<Integer> lanes, List<Long> leaveOut, int limit, long maxBytes)
            throws SQLException {
        Set<Long> inFlight = new HashSet<>(leaveOut);
        List<Sized> due = new ArrayList<>();
        for (Due beside : due(connection, "SCHEDULED", topicId, lanes, MOST_TIMED + inFlight.size())) {
            if (inFlight.contains(beside.seq())) {
                continue;
            }
            due.add(new Sized(beside.seq(), beside.lane(), "SCHEDULED", beside.bytes()));
        }
        due.addAll(dueHeads(connection, topicId, lanes, inFlight));
        due.sort(Comparator.comparingLong(Sized::seq));
        return fetch(connection, upToBudget(due, maxBytes));
    }

    /**
     * Returns the due heads of keys, each with the messages behind it. The head of each key is looked up once. If too few of the due
     * rows are heads, more rows are read, up to all of them: rows that are not heads must not hide the heads of other keys. Such rows
     * are rare, since a replayed message is blocked behind the head of its key.
     */
    private List<Sized> dueHeads(Connection connection, int topicId, List<Integer> lanes, Set<Long> inFlight)
            throws SQLException {
        Map<Key, List<Sized>> waiting = new HashMap<>();
        int limit = MOST_TIMED + inFlight.size();
        while (true) {
            List<Sized> found = new ArrayList<>();
            int heads = 0;
            List<Due> rows = due(connection, "RETRY", topicId, lanes, limit);
            for (Due row : rows) {
                if (heads < MOST_TIMED && !inFlight.contains(row.seq())) {
                    Key key = new Key(new Place(topicId, row.lane()), row.key());
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

    private record Due(long seq, int lane, OrderingKey key, long bytes) {}

    private List<Due> due(Connection connection, String state, int topicId, List<Integer> lanes, int limit)
            throws SQLException {
        return dialect.query(
                connection,
                LockingDialect.in(LockingLaneSql.DUE, lanes.size()),
                binder -> LockingDialect.bindIntegers(binder.text(state).integer(topicId), lanes)
                        .integer(topicId)
                        .integer(limit),
                rows -> {
                    List<Due> due = new ArrayList<>();
                    while (rows.next()) {
                        due.add(new Due(rows.getLong("seq"), rows.getInt("lane"), key(rows), rows.getLong("bytes")));
                    }
                    return due;
                });
    }

    private static OrderingKey key(ResultSet row) throws SQLException {
        String key = row.getString("ordering_key");
        return new OrderingKey(row.getString("tenant"), key == null ? "" : key);
    }

    /** Returns the retrying, blocked and parked messages of a key, lowest number first. */
    private List<Sized> waiting(Connection connection, Key key, int limit) throws SQLException {
        String tenant = key.key().tenant();
        String one =
                byLane(LockingLaneSql.WAITING).replace("{tenant}", tenant == null ? "tenant IS NULL" : "tenant = ?");
        List<String> states = List.of("RETRY", "BLOCKED", "PARKED");
        String all =
                states.stream().map(state -> one.replace("{state}", state)).collect(Collectors.joining(" UNION ALL "));
        List<Sized> waiting = dialect.query(
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
    DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException {
        Map<Integer, Long> due = new HashMap<>();
        Set<Integer> paused = new HashSet<>();
        for (Map.Entry<Integer, List<LaneCursor>> topic :
                byTopic(starts.keySet()).entrySet()) {
            long start = topic.getValue().stream()
                    .mapToLong(lane -> starts.getOrDefault(lane, 0L))
                    .min()
                    .orElse(0);
            String select = LockingDialect.in(
                            LockingLaneSql.NEXT_DUE, topic.getValue().size())
                    .replace("{until}", dialect.microsUntil("m.available_at"));
            dialect.query(
                    connection,
                    select,
                    binder -> bindLanes(binder, topic.getValue()).number(start).integer(topic.getKey()),
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

    // Outcomes

    @Override
    Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            Map<Long, UUID> rows,
            boolean waiting,
            JdbcOptions.Archive archive)
            throws SQLException {
        Map<Long, Found> met = fenced(connection, fence, rows);
        if (archive != JdbcOptions.Archive.OFF) {
            boolean withPayload = archive == JdbcOptions.Archive.FULL;
            dialect.change(
                    connection,
                    LockingLaneSql.COPY,
                    met.keySet(),
                    "archive messages",
                    binder -> binder.flag(withPayload));
        }
        dialect.change(connection, LockingSql.DELETE, met.keySet(), "delete delivered messages", binder -> {});
        return waiting ? promoted(connection, met) : written(met, false);
    }

    @Override
    Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException {
        Map<Long, UUID> wanted = new LinkedHashMap<>();
        rows.forEach(row -> wanted.put(row.seq(), row.id()));
        Map<Long, Found> met = fenced(connection, fence, wanted);
        met.values().removeIf(row -> !leaving.states().contains(row.state()));
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        for (Move row : rows) {
            if (met.containsKey(row.seq())) {
                move(connection, row);
                keyBlocked.put(
                        row.seq(), row.state().equals("RETRY") || row.state().equals("PARKED"));
            }
        }
        return leaving == Leaving.THEIR_KEY
                ? promoted(connection, met)
                : new Written(keyBlocked, Horizon.NO_TRANSACTION);
    }

    private void move(Connection connection, Move row) throws SQLException {
        Duration delay = row.delay();
        String due = delay == null ? dialect.never() : "{later}";
        int changed = dialect.update(connection, LockingLaneSql.MOVE.replace("{due}", due), binder -> {
            binder.text(row.state())
                    .integer(row.attempts())
                    .text(row.error())
                    .text(row.reason())
                    .text(row.fingerprint());
            if (delay != null) {
                binder.micros(delay);
            }
            binder.number(row.seq());
        });
        LockingDialect.expect(1, changed, "move a message");
    }

    @Override
    Written block(Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows) throws SQLException {
        Map<Long, Found> met = fenced(connection, fence, rows);
        met.values().removeIf(row -> !row.state().equals("PENDING"));
        Map<Key, Long> lowest = new HashMap<>();
        Map<Long, Boolean> behind = new HashMap<>();
        for (Found row : met.values()) {
            Long first = lowest.get(row.key());
            if (first == null) {
                List<Sized> waiting = waiting(connection, row.key(), 1);
                first = waiting.isEmpty() ? Long.MAX_VALUE : waiting.get(0).seq();
            }
            behind.put(row.seq(), first < row.seq());
            lowest.put(row.key(), Math.min(first, row.seq()));
        }
        wait(connection, "BLOCKED", behind, true);
        wait(connection, "RETRY", behind, false);
        return new Written(behind, Horizon.NO_TRANSACTION);
    }

    private void wait(Connection connection, String state, Map<Long, Boolean> rows, boolean which) throws SQLException {
        List<Long> seqs = rows.keySet().stream()
                .filter(seq -> rows.getOrDefault(seq, false) == which)
                .toList();
        dialect.change(connection, LockingLaneSql.WAIT, seqs, "block messages", binder -> binder.text(state));
    }

    /**
     * Locks and returns the existing rows of lanes that still have this node's token and revision, ordered by number. Rows that another
     * transaction has locked are left out.
     */
    private Map<Long, Found> fenced(Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows)
            throws SQLException {
        Map<UUID, Standing> held = held(connection, fence, dialect.shareLock());
        Set<Place> lanes = fence.stream()
                .filter(lane -> {
                    Standing standing = held.get(lane.token);
                    return standing != null && standing.revision() == lane.revision();
                })
                .map(lane -> new Place(lane.topicId, lane.lane))
                .collect(Collectors.toSet());
        Map<Long, Found> met = new TreeMap<>();
        if (!lanes.isEmpty()) {
            dialect.query(
                    connection,
                    LockingDialect.in(LockingLaneSql.FIND, rows.size()),
                    binder -> LockingDialect.bindNumbers(binder, rows.keySet()),
                    found -> {
                        while (found.next()) {
                            Found row = new Found(
                                    found.getLong("seq"),
                                    dialect.readUuid(found, "id"),
                                    found.getString("state"),
                                    new Key(new Place(found.getInt("topic_id"), found.getInt("lane")), key(found)));
                            if (row.id().equals(rows.get(row.seq()))
                                    && lanes.contains(row.key().place())) {
                                met.put(row.seq(), row);
                            }
                        }
                        return met;
                    });
        }
        return met;
    }

    private static Written written(Map<Long, Found> met, boolean keyBlocked) {
        Map<Long, Boolean> answers = new HashMap<>();
        met.keySet().forEach(seq -> answers.put(seq, keyBlocked));
        return new Written(answers, Horizon.NO_TRANSACTION);
    }

    /**
     * Makes the lowest remaining message of each blocked key its head, due now. If a handler or another transaction has locked that
     * message, it stays unchanged and the result names it.
     */
    private Written promoted(Connection connection, Map<Long, Found> gone) throws SQLException {
        Map<Key, Promotion> promotions = new HashMap<>();
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        Map<Long, Long> lockedHeads = new HashMap<>();
        for (Found row : gone.values()) {
            Promotion promotion = promotions.get(row.key());
            if (promotion == null) {
                promotion = promote(connection, row.key());
                promotions.put(row.key(), promotion);
            }
            keyBlocked.put(row.seq(), promotion.keyBlocked());
            Long locked = promotion.lockedHead();
            if (locked != null) {
                lockedHeads.put(row.seq(), locked);
            }
        }
        return new Written(keyBlocked, lockedHeads, Horizon.NO_TRANSACTION);
    }

    private Promotion promote(Connection connection, Key key) throws SQLException {
        List<Sized> left = waiting(connection, key, 1);
        if (left.isEmpty() || !left.get(0).state().equals("BLOCKED")) {
            return new Promotion(!left.isEmpty(), null);
        }
        long head = left.get(0).seq();
        if (free(connection, Set.of(head)).isEmpty()) {
            return new Promotion(true, head);
        }
        dialect.change(
                connection, LockingLaneSql.WAIT, List.of(head), "promote a new head", binder -> binder.text("RETRY"));
        return new Promotion(true, null);
    }
}
