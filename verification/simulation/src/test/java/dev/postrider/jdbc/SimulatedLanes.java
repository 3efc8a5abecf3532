package dev.postrider.jdbc;

import dev.postrider.internal.store.Lane;
import dev.postrider.internal.store.LaneStore;
import dev.postrider.internal.store.OrderingKey;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.message.TopicName;
import dev.postrider.store.Claim;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What {@link PostgresLanes} asks, answered by the simulated database, statement for statement: the comments there say why each is as
 * it is. Where a statement locks something, others have their turn before and after.
 */
class SimulatedLanes implements LaneStatements, LaneReads, LaneOutcomeStatements, KeyHeads, NodeStatements {

    private static final Written NONE = new Written(Map.of(), Horizon.NO_TRANSACTION);

    final SimulatedDatabase database;

    SimulatedLanes(SimulatedDialect dialect) {
        this.database = dialect.database;
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1000;
    }

    // Nodes

    @Override
    public Map<Integer, Integer> announce(
            Connection connection, LaneStore.Node node, Set<Integer> topicIds, Duration lease) throws SQLException {
        return Session.of(connection).run("announce", transaction -> {
            database.nodes.put(
                    node.instance(),
                    new SimulatedDatabase.Announced(new TreeSet<>(topicIds), database.micros() + micros(lease)));
            Map<Integer, Integer> alive = new HashMap<>();
            database.nodes.values().stream()
                    .filter(other -> other.until() > database.micros())
                    .forEach(other -> other.topics().forEach(topic -> alive.merge(topic, 1, Integer::sum)));
            return alive;
        });
    }

    @Override
    public Instant now(Connection connection) throws SQLException {
        return Session.of(connection)
                .run("read the clock", transaction -> Instant.EPOCH.plusNanos(1000 * database.micros()));
    }

    @Override
    public boolean leave(Connection connection, LaneStore.Node node) throws SQLException {
        return Session.of(connection).run("leave", transaction -> database.nodes.remove(node.instance()) != null);
    }

    // Keys without a head

    @Override
    public Optional<Promotion> promoteNext(Connection connection, int topicId, int lane, OrderingKey key)
            throws SQLException {
        Session session = Session.of(connection);
        if (!session.run("lock a lane", transaction -> tryLockLane(transaction, topicId, lane))) {
            return Optional.empty();
        }
        return session.run("go on with a key", transaction -> {
            Optional<Row> head = database.snapshot(transaction).values().stream()
                    .filter(row -> row.isIn(topicId, lane)
                            && row.isWaiting()
                            && keyOf(row).equals(key))
                    .findFirst();
            session.meanwhile(transaction);
            boolean blocked = head.isPresent() && head.get().state == RowState.BLOCKED;
            boolean promoted = !blocked || promote(transaction, head.get().seq);
            return Optional.of(new Promotion(head.isPresent(), promoted ? null : head.get().seq));
        });
    }

    private boolean promote(Transaction transaction, long seq) {
        Row row = database.tryLockRow(transaction, seq, newest -> newest.state == RowState.BLOCKED);
        if (row != null) {
            row.state = RowState.RETRY;
            row.crashes = 0;
            row.availableAt = database.micros();
            database.update(row);
        }
        return row != null;
    }

    @Override
    public Set<Integer> lanesWithoutHeads(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException {
        return Session.of(connection).run("look for keys without a head", transaction -> {
            Set<Integer> headless = new TreeSet<>();
            headless(database.snapshot(transaction), topicId, lanes)
                    .forEach(row -> headless.add(Objects.requireNonNull(row.lane)));
            return headless;
        });
    }

    private static List<Row> headless(NavigableMap<Long, Row> seen, int topicId, Collection<Integer> lanes) {
        return seen.values().stream()
                .filter(row -> row.topicId == topicId && row.lane != null && lanes.contains(row.lane))
                .filter(row -> row.state == RowState.BLOCKED && !hasWaitingBefore(seen, row))
                .toList();
    }

    private static boolean hasWaitingBefore(NavigableMap<Long, Row> seen, Row row) {
        return seen.headMap(row.seq).values().stream().anyMatch(other -> other.isWaiting() && other.isOfKey(row));
    }

    @Override
    public Optional<Set<Long>> promoteMissingHeads(Connection connection, int topicId, int lane) throws SQLException {
        Session session = Session.of(connection);
        if (!session.run("lock a lane", transaction -> tryLockLane(transaction, topicId, lane))) {
            return Optional.empty();
        }
        return session.run("go on with keys", transaction -> {
            List<Row> headless = headless(database.snapshot(transaction), topicId, List.of(lane));
            session.meanwhile(transaction);
            Set<Long> locked = new HashSet<>();
            for (Row row : headless) {
                if (!promote(transaction, row.seq)) {
                    locked.add(row.seq);
                }
            }
            return Optional.of(locked);
        });
    }

    static OrderingKey keyOf(Row row) {
        return OrderingKey.of(row.message);
    }

    // Owning

    private boolean isFree(Transaction transaction, int topicId, int lane) {
        Cell<LaneState> cell = Objects.requireNonNull(database.lanes.get(new SimulatedDatabase.Place(topicId, lane)));
        return SimulatedDatabase.isFree(cell, transaction, false);
    }

    private boolean tryLockLane(Transaction transaction, int topicId, int lane) throws SQLException {
        return isFree(transaction, topicId, lane) && lockLane(transaction, topicId, lane, row -> true) != null;
    }

    @Nullable
    LaneState lockLane(Transaction transaction, int topicId, int lane, Predicate<LaneState> condition)
            throws SQLException {
        Cell<LaneState> cell = Objects.requireNonNull(database.lanes.get(new SimulatedDatabase.Place(topicId, lane)));
        if (!condition.test(Objects.requireNonNull(cell.seenBy(transaction)))) {
            return null; // the statement does not see it, and so does not wait for it
        }
        database.lock(cell, transaction, false);
        LaneState newest = Objects.requireNonNull(cell.seenBy(transaction));
        return condition.test(newest) ? newest.copy() : null;
    }

    @Override
    public List<AcquiredLane> acquire(
            Connection connection, int topicId, Lane.Request request, List<UUID> tokens, int buffer)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("take lanes", transaction -> {
            long grace = request.supply() == Lane.Supply.UNCLAIMED ? micros(request.lease()) : 0;
            session.meanwhile(transaction);
            List<AcquiredLane> taken = new ArrayList<>();
            for (Cell<LaneState> cell : List.copyOf(database.lanes.values())) {
                LaneState seen = Objects.requireNonNull(cell.committed);
                if (taken.size() < tokens.size()
                        && seen.topicId == topicId
                        && isFree(seen, grace)
                        && database.tryLock(cell, transaction)) {
                    LaneState lane =
                            Objects.requireNonNull(cell.seenBy(transaction)).copy();
                    taken.add(taken(lane, tokens.get(taken.size())));
                    lane.owner = request.worker();
                    lane.token = tokens.get(taken.size() - 1);
                    lane.until = database.micros() + micros(request.lease());
                    lane.buffer = buffer;
                    lane.isolated = null;
                    database.update(lane);
                }
            }
            session.meanwhile(transaction);
            return taken;
        });
    }

    boolean isFree(LaneState lane, long grace) {
        return lane.until < database.micros() - grace;
    }

    private static AcquiredLane taken(LaneState lane, UUID token) {
        return new AcquiredLane(
                lane.lane, token, lane.revision, lane.floor, lane.owner != null, lane.isolated, lane.buffer);
    }

    @Override
    public boolean renewalMeetsOutcomes() {
        return false;
    }

    @Override
    public Map<Long, RowState> states(Connection connection, Map<Long, UUID> rows) throws SQLException {
        return Session.of(connection).run("look for messages", transaction -> {
            Map<Long, RowState> states = new HashMap<>();
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            rows.forEach((seq, id) -> {
                Row row = seen.get(seq);
                if (row != null && row.id().equals(id)) {
                    states.put(seq, row.state);
                }
            });
            return states;
        });
    }

    @Override
    public Renewed renew(Connection connection, Floors floors, Duration lease, int buffer, boolean wait)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("renew lanes", transaction -> {
            session.meanwhile(transaction);
            Map<UUID, Long> stored = new LinkedHashMap<>();
            long number = Horizon.NO_TRANSACTION;
            for (LaneState lane : locked(transaction, floors)) {
                lane.until = database.micros() + micros(lease);
                lane.buffer = buffer;
                lane.floor = floor(lane, floors);
                database.update(lane);
                stored.put(Objects.requireNonNull(lane.token), lane.floor);
                number = database.number(transaction);
            }
            session.meanwhile(transaction);
            return new Renewed(stored, Set.of(), number);
        });
    }

    private List<LaneState> locked(Transaction transaction, Floors floors) throws SQLException {
        List<LaneState> locked = new ArrayList<>();
        for (LaneCursor cursor : inOrder(floors.byLane().keySet())) {
            LaneState lane =
                    lockLane(transaction, cursor.topicId, cursor.lane, newest -> cursor.token.equals(newest.token));
            if (lane != null) {
                locked.add(lane);
            }
        }
        return locked;
    }

    /** The floor is only true of the server that showed it. */
    long floor(LaneState lane, Floors floors) {
        boolean same = database.server().equals(floors.server());
        long held = floors.byLane().entrySet().stream()
                .filter(entry -> entry.getKey().topicId == lane.topicId && entry.getKey().lane == lane.lane)
                .findFirst()
                .orElseThrow()
                .getValue();
        return same ? Math.max(held, lane.floor) : lane.floor;
    }

    static List<LaneCursor> inOrder(Collection<LaneCursor> lanes) {
        return lanes.stream()
                .sorted(Comparator.<LaneCursor>comparingInt(cursor -> cursor.topicId)
                        .thenComparingInt(cursor -> cursor.lane)
                        .thenComparing(cursor -> cursor.token))
                .toList();
    }

    @Override
    public Set<UUID> release(Connection connection, Floors floors) throws SQLException {
        Session session = Session.of(connection);
        return session.run("release lanes", transaction -> {
            session.meanwhile(transaction);
            Set<UUID> released = new HashSet<>();
            for (LaneCursor cursor : inOrder(floors.byLane().keySet())) {
                LaneState lane = isFree(transaction, cursor.topicId, cursor.lane)
                        ? lockLane(
                                transaction, cursor.topicId, cursor.lane, newest -> cursor.token.equals(newest.token))
                        : null;
                if (lane != null) {
                    lane.floor = floor(lane, floors);
                    free(lane);
                    lane.buffer = 0;
                    database.update(lane);
                    released.add(cursor.token);
                }
            }
            return released;
        });
    }

    private void free(LaneState lane) {
        lane.owner = null;
        lane.token = null;
        lane.until = database.micros();
        lane.isolated = null;
    }

    @Override
    public void releaseTokens(Connection connection, Collection<UUID> tokens, boolean wait) throws SQLException {
        Session.of(connection).run("give back lanes", transaction -> {
            for (SimulatedDatabase.Place place : List.copyOf(database.lanes.keySet())) {
                if (!wait && !isFree(transaction, place.topicId(), place.lane())) {
                    continue;
                }
                LaneState lane = lockLane(
                        transaction,
                        place.topicId(),
                        place.lane(),
                        newest -> newest.token != null && tokens.contains(newest.token));
                if (lane != null) {
                    free(lane);
                    database.update(lane);
                }
            }
            return true;
        });
    }

    @Override
    public Standings standings(Connection connection, Collection<LaneCursor> lanes) throws SQLException {
        return Session.of(connection).run("look after lanes", transaction -> {
            Map<UUID, Standing> byToken = new HashMap<>();
            for (LaneCursor cursor : lanes) {
                LaneState lane = lane(cursor);
                if (cursor.token.equals(lane.token)) {
                    byToken.put(cursor.token, new Standing(lane.revision, lane.floor));
                }
            }
            return new Standings(database.server(), byToken);
        });
    }

    LaneState lane(LaneCursor cursor) {
        Cell<LaneState> cell = database.lanes.get(new SimulatedDatabase.Place(cursor.topicId, cursor.lane));
        return Objects.requireNonNull(Objects.requireNonNull(cell).committed);
    }

    @Override
    public List<WaitingKey> waitingKeys(Connection connection, int topicId, Collection<Integer> lanes)
            throws SQLException {
        return Session.of(connection).run("find blocked keys", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            return seen.values().stream()
                    .filter(row -> row.topicId == topicId && row.lane != null && lanes.contains(row.lane))
                    .filter(row -> row.isWaiting() && !hasWaitingBefore(seen, row))
                    .map(row ->
                            new WaitingKey(Objects.requireNonNull(row.lane), keyOf(row), row.state == RowState.BLOCKED))
                    .toList();
        });
    }

    @Override
    public void suspect(Connection connection, int topicId, List<AcquiredLane> crashed) throws SQLException {
        Session session = Session.of(connection);
        session.run("suspect messages", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            long began = database.micros();
            session.meanwhile(transaction);
            for (AcquiredLane lane : crashed) {
                Long isolated = lane.isolated();
                if (isolated != null) {
                    Row row = seen.containsKey(isolated)
                            ? database.tryLockRow(
                                    transaction,
                                    isolated,
                                    newest -> newest.lane != null && newest.state != RowState.DEAD)
                            : null;
                    if (row != null) {
                        row.crashes++;
                        database.update(row);
                    }
                }
                suspectMany(transaction, seen, topicId, lane, began);
            }
            return true;
        });
    }

    private void suspectMany(
            Transaction transaction, NavigableMap<Long, Row> seen, int topicId, AcquiredLane lane, long began) {
        List<Row> suspects = new ArrayList<>();
        seen.tailMap(lane.floor(), false).values().stream()
                .filter(row -> row.isIn(topicId, lane.lane()) && row.state == RowState.PENDING)
                .limit(lane.buffer())
                .forEach(suspects::add);
        seen.values().stream()
                .filter(row -> row.isIn(topicId, lane.lane()) && row.isTimed() && row.availableAt <= began)
                .sorted(Comparator.comparingLong((Row row) -> row.availableAt).thenComparingLong(row -> row.seq))
                .limit(lane.buffer())
                .forEach(suspects::add);
        for (Row suspect : suspects) {
            Row row = database.tryLockRow(transaction, suspect.seq, newest -> true);
            if (row != null) {
                row.crashes = Math.max(row.crashes, Math.min(row.crashes + 1, 2));
                database.update(row);
            }
        }
    }

    @Override
    public Noted setIsolated(Connection connection, LaneCursor cursor, @Nullable Long seq) throws SQLException {
        return Session.of(connection).run("note the isolated delivery", transaction -> {
            if (!isFree(transaction, cursor.topicId, cursor.lane)) {
                return Noted.of(false, cursor.token.equals(lane(cursor).token));
            }
            LaneState lane =
                    lockLane(transaction, cursor.topicId, cursor.lane, newest -> cursor.token.equals(newest.token));
            if (lane != null) {
                lane.isolated = seq;
                database.update(lane);
            }
            return Noted.of(lane != null, false);
        });
    }

    // Reading

    /** The snapshot is taken first; what a sequence shows is of no snapshot, but of the moment when it is looked at. */
    @Override
    public LaneRead read(
            Connection connection, int topicId, TopicName topic, List<LaneCursor.LaneScan> scans, long maxBytes)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("read lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            long finishedBefore = database.oldestRunning();
            session.meanwhileAtWorst(transaction);
            Horizon.Sight sight = sight(finishedBefore);
            boolean paused = database.isPaused(topicId);
            return new LaneRead(
                    sight,
                    paused,
                    paused ? List.of() : rows(seen, topicId, scans, LaneReads.leaveOut(scans), maxBytes));
        });
    }

    Horizon.Sight sight(long finishedBefore) {
        return new Horizon.Sight(database.server(), database.lastNumber(), finishedBefore, null);
    }

    static List<LaneRow> rows(
            NavigableMap<Long, Row> seen,
            int topicId,
            List<LaneCursor.LaneScan> scans,
            List<Long> leaveOut,
            long maxBytes) {
        List<LaneRow> rows = new ArrayList<>();
        for (LaneCursor.LaneScan scan : scans) {
            seen.tailMap(scan.start(), false).values().stream()
                    .filter(row -> row.isIn(topicId, scan.lane()) && row.state == RowState.PENDING)
                    .filter(row -> !leaveOut.contains(row.seq))
                    .limit(scan.room())
                    .forEach(row -> rows.add(laneRow(row)));
        }
        rows.sort(BY_NUMBER);
        return within(rows, maxBytes);
    }

    private static LaneRow laneRow(Row row) {
        return new LaneRow(
                Objects.requireNonNull(row.lane),
                row.state,
                new ClaimedRow(
                        row.seq, row.id(), row.message, null, null, null, row.attempts, row.crashes, Instant.EPOCH));
    }

    private static List<LaneRow> within(List<LaneRow> rows, long maxBytes) {
        List<LaneRow> fitting = new ArrayList<>();
        long before = 0;
        for (LaneRow row : rows) {
            if (before < maxBytes) {
                fitting.add(row);
            }
            before += row.row().bytes();
        }
        return fitting;
    }

    @Override
    public List<LaneRow> readTimed(Connection connection, int topicId, TopicName topic, TimedScan scan)
            throws SQLException {
        return Session.of(connection).run("read what is due in lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            long began = database.micros();
            List<LaneRow> rows = new ArrayList<>();
            if (database.isPaused(topicId)) {
                return rows;
            }
            for (int lane : scan.lanes()) {
                seen.values().stream()
                        .filter(row -> row.isIn(topicId, lane) && row.isTimed() && row.availableAt <= began)
                        .filter(row -> !scan.leaveOut().contains(row.seq))
                        .filter(row -> row.state == RowState.SCHEDULED || !hasWaitingBefore(seen, row))
                        .sorted(Comparator.comparingLong((Row row) -> row.availableAt)
                                .thenComparingLong(row -> row.seq))
                        .limit(scan.limit())
                        .forEach(due -> withWhatIsBehind(rows, seen, due));
            }
            rows.sort(BY_NUMBER);
            return within(rows, scan.maxBytes());
        });
    }

    @Override
    public Set<Long> lockDue(Connection connection, List<Long> seqs) throws SQLException {
        return Session.of(connection).run("lock what is due in lanes", transaction -> {
            long now = database.micros();
            Set<Long> free = new TreeSet<>();
            for (long seq : seqs) {
                Row row = database.tryLockRow(
                        transaction,
                        seq,
                        newest -> newest.state == RowState.BLOCKED || (newest.isTimed() && newest.availableAt <= now));
                if (row != null) {
                    free.add(seq);
                }
            }
            return free;
        });
    }

    private static void withWhatIsBehind(List<LaneRow> rows, NavigableMap<Long, Row> seen, Row due) {
        rows.add(laneRow(due));
        if (due.state == RowState.RETRY) {
            seen.tailMap(due.seq, false).values().stream()
                    .filter(row -> row.isWaiting() && row.isOfKey(due))
                    .limit(BEHIND_HEAD)
                    .forEach(row -> rows.add(laneRow(row)));
        }
    }

    @Override
    public DueTopics nextDue(Connection connection, Map<LaneCursor, Long> starts) throws SQLException {
        return Session.of(connection).run("look for due messages in lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            Map<Integer, Long> due = new TreeMap<>();
            Set<Integer> paused = new HashSet<>();
            starts.forEach((cursor, start) -> {
                if (database.isPaused(cursor.topicId)) {
                    paused.add(cursor.topicId);
                    return;
                }
                boolean hot = seen.tailMap(start, false).values().stream()
                        .anyMatch(row -> row.isIn(cursor.topicId, cursor.lane) && row.state == RowState.PENDING);
                Optional<Long> timed = seen.values().stream()
                        .filter(row -> row.isIn(cursor.topicId, cursor.lane) && row.isTimed())
                        .map(row -> row.availableAt - database.micros())
                        .min(Comparator.naturalOrder());
                Optional<Long> micros = hot ? Optional.of(0L) : timed;
                micros.ifPresent(after -> due.merge(cursor.topicId, after, Math::min));
            });
            return new DueTopics(due, paused);
        });
    }

    // Outcomes

    /** The lanes that are still as the cursors know them, locked in share mode; skips those that another transaction has locked. */
    Set<SimulatedDatabase.Place> fence(Transaction transaction, Collection<LaneCursor> fence) throws SQLException {
        Set<SimulatedDatabase.Place> places = new HashSet<>();
        for (LaneCursor cursor : inOrder(fence)) {
            SimulatedDatabase.Place place = new SimulatedDatabase.Place(cursor.topicId, cursor.lane);
            Cell<LaneState> cell = Objects.requireNonNull(database.lanes.get(place));
            if (isAsKnown(Objects.requireNonNull(cell.seenBy(transaction)), cursor)
                    && SimulatedDatabase.isFree(cell, transaction, true)) {
                database.lock(cell, transaction, true);
                if (isAsKnown(Objects.requireNonNull(cell.seenBy(transaction)), cursor)) {
                    places.add(place);
                }
            }
        }
        return places;
    }

    private static boolean isAsKnown(LaneState lane, LaneCursor cursor) {
        return cursor.token.equals(lane.token) && cursor.revision() == lane.revision;
    }

    private static boolean isFenced(Row row, Set<SimulatedDatabase.Place> fence) {
        return row.lane != null && fence.contains(new SimulatedDatabase.Place(row.topicId, row.lane));
    }

    /** For the judges of the run: under which token a row is changed, and which its lane has at that moment. */
    private void settled(String doing, Row row, Collection<LaneCursor> fence) {
        for (LaneCursor cursor : fence) {
            if (row.isIn(cursor.topicId, cursor.lane)) {
                database.settled(doing, row, cursor.token, lane(cursor).token);
            }
        }
    }

    boolean isMeant(Row row, UUID id) {
        return row.id().equals(id);
    }

    @Override
    public Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            List<Claim> delivered,
            boolean waiting,
            TableOptions.Archive archive)
            throws SQLException {
        Written all = waiting ? NONE : acknowledgeAll(connection, fence, delivered);
        return all.all() ? all : acknowledge(connection, fence, LaneReads.ids(delivered), waiting);
    }

    /** All of them, or none if a lane is not as it was, or if a row is not there, locked, or another one. */
    private Written acknowledgeAll(Connection connection, Collection<LaneCursor> fence, List<Claim> delivered)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("acknowledge all in lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            session.meanwhile(transaction);
            if (fence(transaction, fence).size() < fence.size()) {
                return NONE;
            }
            session.meanwhileAtWorst(transaction);
            Map<Long, Row> finished = new TreeMap<>();
            for (Claim claim : delivered) {
                Row row = seen.containsKey(claim.seq())
                        ? database.tryLockRow(transaction, claim.seq(), newest -> true)
                        : null;
                if (row == null || !isMeant(row, claim.message().id().value()) || finished.put(row.seq, row) != null) {
                    return NONE;
                }
            }
            finished.values().forEach(row -> {
                settled("acknowledge all in lanes", row, fence);
                database.delete(row);
            });
            session.meanwhile(transaction);
            return Written.all(database.number(transaction));
        });
    }

    private Written acknowledge(
            Connection connection, Collection<LaneCursor> fence, Map<Long, UUID> rows, boolean waiting)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("acknowledge in lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            session.meanwhile(transaction);
            Set<SimulatedDatabase.Place> places = fence(transaction, fence);
            session.meanwhileAtWorst(transaction);
            List<Row> finished = new ArrayList<>();
            for (Map.Entry<Long, UUID> wanted : new TreeMap<>(rows).entrySet()) {
                Predicate<Row> condition = row -> isMeant(row, wanted.getValue()) && isFenced(row, places);
                Row visible = seen.get(wanted.getKey());
                Row row = visible == null || !condition.test(visible)
                        ? null
                        : database.tryLockRow(transaction, wanted.getKey(), condition);
                if (row != null) {
                    settled("acknowledge in lanes", row, fence);
                    database.delete(row);
                    finished.add(row);
                }
            }
            Map<Long, Boolean> keyBlocked = new HashMap<>();
            Map<Long, Long> lockedHeads = new HashMap<>();
            finished.forEach(row -> keyBlocked.put(row.seq, false));
            if (waiting) {
                keyBlocked.putAll(promote(transaction, seen, finished, lockedHeads));
            }
            session.meanwhile(transaction);
            return new Written(keyBlocked, lockedHeads, database.number(transaction));
        });
    }

    /** By what the statement saw when it began. */
    Map<Long, Boolean> promote(
            Transaction transaction, NavigableMap<Long, Row> seen, List<Row> finished, Map<Long, Long> lockedHeads) {
        Set<Long> gone = new HashSet<>();
        finished.forEach(row -> gone.add(row.seq));
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        Set<Long> promoted = new HashSet<>();
        for (Row row : finished) {
            Optional<Row> head = seen.values().stream()
                    .filter(other -> other.isWaiting() && other.isOfKey(row) && !gone.contains(other.seq))
                    .findFirst();
            keyBlocked.put(row.seq, head.isPresent());
            if (head.isPresent() && head.get().state == RowState.BLOCKED && promoted.add(head.get().seq)) {
                Row next = database.tryLockRow(transaction, head.get().seq, newest -> newest.state == RowState.BLOCKED);
                if (next == null) {
                    lockedHeads.put(row.seq, head.get().seq);
                } else {
                    next.state = RowState.RETRY;
                    next.availableAt = database.micros();
                    database.update(next);
                }
            }
        }
        return keyBlocked;
    }

    @Override
    public Written move(Connection connection, Collection<LaneCursor> fence, List<Move> moves, Leaving leaving)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("move in lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            session.meanwhile(transaction);
            Set<SimulatedDatabase.Place> places = fence(transaction, fence);
            session.meanwhileAtWorst(transaction);
            List<Row> finished = new ArrayList<>();
            for (Move move : moves) {
                Predicate<Row> condition =
                        row -> isMeant(row, move.id()) && leaving.states().contains(row.state) && isFenced(row, places);
                Row visible = seen.get(move.seq());
                Row row = visible == null || !condition.test(visible)
                        ? null
                        : database.tryLockRow(transaction, move.seq(), condition);
                if (row != null) {
                    settled("move in lanes", row, fence);
                    row.state = move.state();
                    row.attempts = move.attempts();
                    row.reason = move.reason();
                    Duration delay = move.delay();
                    row.availableAt = delay == null ? Long.MAX_VALUE : database.micros() + micros(delay);
                    database.update(row);
                    finished.add(row);
                }
            }
            Map<Long, Boolean> keyBlocked = new HashMap<>();
            Map<Long, Long> lockedHeads = new HashMap<>();
            finished.forEach(
                    row -> keyBlocked.put(row.seq, row.state == RowState.RETRY || row.state == RowState.PARKED));
            if (leaving == Leaving.THEIR_KEY) {
                keyBlocked.putAll(promote(transaction, seen, finished, lockedHeads));
            }
            session.meanwhile(transaction);
            return new Written(
                    keyBlocked,
                    lockedHeads,
                    finished.isEmpty() ? Horizon.NO_TRANSACTION : database.number(transaction));
        });
    }

    @Override
    public Written block(Connection connection, Collection<LaneCursor> fence, List<Claim> claims) throws SQLException {
        Session session = Session.of(connection);
        return session.run("block in lanes", transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            session.meanwhile(transaction);
            Set<SimulatedDatabase.Place> places = fence(transaction, fence);
            session.meanwhileAtWorst(transaction);
            Map<Long, Boolean> keyBlocked = new HashMap<>();
            Set<OrderingKey> broken = new HashSet<>();
            for (Claim wanted :
                    claims.stream().sorted(Comparator.comparingLong(Claim::seq)).toList()) {
                OrderingKey key = OrderingKey.of(wanted.message());
                Predicate<Row> condition =
                        row -> isMeant(row, wanted.message().id().value())
                                && row.state == RowState.PENDING
                                && isFenced(row, places);
                Row visible = seen.get(wanted.seq());
                Row row = visible == null || !condition.test(visible) || broken.contains(key)
                        ? null
                        : database.tryLockRow(transaction, wanted.seq(), condition);
                if (row == null) {
                    broken.add(key);
                } else {
                    settled("block in lanes", row, fence);
                    row.state = hasWaitingBefore(seen, row) ? RowState.BLOCKED : RowState.RETRY;
                    row.availableAt = database.micros();
                    database.update(row);
                    keyBlocked.put(row.seq, row.state == RowState.BLOCKED);
                }
            }
            session.meanwhile(transaction);
            return new Written(
                    keyBlocked, keyBlocked.isEmpty() ? Horizon.NO_TRANSACTION : database.number(transaction));
        });
    }
}
