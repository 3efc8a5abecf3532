package dev.postrider.jdbc;

import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.InboxHandler;
import dev.postrider.jdbc.inbox.InboxMark;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.message.TopicName;
import dev.postrider.simulation.Chance;
import dev.postrider.simulation.Conductor;
import dev.postrider.simulation.Host;
import dev.postrider.simulation.Strand;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A database in memory that does what PostgreSQL was seen to do with our statements at READ COMMITTED. A statement sees what was
 * committed when it began; others may commit while it runs. It waits for a row that another transaction has changed, and then decides
 * again by the new row, while everything that it does not lock stays as it was seen. Numbers are drawn before they can be seen and are not
 * given back; after a crash those come again that no commit had brought to the disk.
 */
public final class SimulatedDatabase {

    /** How many numbers are written to the log ahead: 32 on PostgreSQL, and fewer here so that a crash tells more often. */
    private static final int LOGGED_AHEAD = 3;

    private static final long EPOCH_MICROS = 1_800_000_000_000_000L;

    private static final int MOST_COMMITS = 40;

    /** How to undo it. */
    private static final class Commit {
        final List<Runnable> undo = new ArrayList<>();
    }

    /** Numbers of lanes repeat from topic to topic. */
    record Place(int topicId, int lane) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            return topicId != other.topicId
                    ? Integer.compare(topicId, other.topicId)
                    : Integer.compare(lane, other.lane);
        }
    }

    /** A node as it announced itself. */
    record Announced(Set<Integer> topics, long until) {}

    /**
     * A change of the table, for the judges of the run.
     *
     * @param from null for a message that is new
     * @param to null for one that was removed
     * @param crashes how many nodes it is said to have cost by then
     */
    public record Change(
            long atNanos,
            UUID id,
            @Nullable String from,
            @Nullable String to,
            int crashes,
            String by) {}

    final Conductor conductor;
    final Weather weather;
    final TreeMap<Long, Cell<Row>> messages = new TreeMap<>();
    final TreeMap<Place, Cell<LaneState>> lanes = new TreeMap<>();
    final Map<CommandId, Cell<CommandState>> commands = new LinkedHashMap<>();
    final Map<UUID, Announced> nodes = new LinkedHashMap<>();
    final Map<SimulatedInbox.Place, Cell<InboxMark>> marks = new LinkedHashMap<>();
    final List<InboxHandler> handlers = new ArrayList<>();
    private final Map<Integer, Cell<Integer>> gaps = new LinkedHashMap<>();
    private final Map<UUID, TopicName> inserted = new LinkedHashMap<>();
    private final Map<TopicName, Topics.RegisteredTopic> topics = new HashMap<>();
    private final Set<Integer> paused = new LinkedHashSet<>();
    private final List<Change> changes = new ArrayList<>();
    private final List<String> stale = new ArrayList<>();
    private final List<Effect> effects = new ArrayList<>();
    private final List<Deed> deeds = new ArrayList<>();
    private final Set<UUID> discarded = new LinkedHashSet<>();
    private final Set<UUID> lost = new LinkedHashSet<>();
    private final Deque<Commit> commits = new ArrayDeque<>();
    private Commit current = new Commit();
    private final Set<Transaction> open = new LinkedHashSet<>();
    private final List<Strand> waiting = new ArrayList<>();
    private final Set<Session> sessions = new LinkedHashSet<>();
    private long clockOffsetMicros;
    private long lastNumber;
    private long loggedNumber;
    private long flushedNumber;
    private long lastTransaction = 100;
    private long flushedTransaction = 100;
    private boolean failedOver;
    private int life = 1;
    private long downUntil;

    public SimulatedDatabase(Conductor conductor, Weather weather) {
        this.conductor = conductor;
        this.weather = weather;
    }

    Chance chance() {
        return conductor.chance();
    }

    // Topics

    /** @param count 0 for an unordered topic */
    public void declare(TopicName name, int count) {
        int id = topics.size() + 1;
        topics.put(name, new Topics.RegisteredTopic(id, count, false, false));
        for (int lane = 0; lane < count; lane++) {
            Cell<LaneState> cell = new Cell<>();
            LaneState state = new LaneState(id, lane);
            state.until = micros();
            cell.committed = state;
            lanes.put(new Place(id, lane), cell);
        }
    }

    Topics.@Nullable RegisteredTopic topic(TopicName name) {
        return topics.get(name);
    }

    public void register(InboxHandler handler) {
        handlers.add(handler);
    }

    public int lanesOf(TopicName name) {
        return Objects.requireNonNull(topics.get(name)).lanes();
    }

    boolean isPaused(int topicId) {
        return paused.contains(topicId);
    }

    void pause(int topicId, boolean pause) {
        if (pause) {
            paused.add(topicId);
        } else {
            paused.remove(topicId);
        }
    }

    // Time and life

    /** By the database's own clock. */
    public long micros() {
        return EPOCH_MICROS + conductor.nanos() / 1000 + clockOffsetMicros;
    }

    public void stepClock(Duration step) {
        conductor.note("the database's clock is set by " + step);
        clockOffsetMicros += step.toNanos() / 1000;
    }

    /** Which server this is, and since when it runs. */
    String server() {
        return "simulated " + life;
    }

    /** Everything that is not committed is gone, and so are all connections. */
    public void crash(Duration down) {
        conductor.note("the database crashes");
        life++;
        downUntil = conductor.nanos() + down.toNanos();
        lastNumber = flushedNumber;
        loggedNumber = flushedNumber;
        lastTransaction = flushedTransaction;
        List.copyOf(open).forEach(this::rollback);
    }

    /**
     * Another server takes over that has not got the last commits. Messages that are lost by this were never promised; everything else
     * goes on as if they had not been.
     */
    public void failOver(Duration down) {
        int lost = (int) Math.min(chance().between(1, MOST_COMMITS), commits.size());
        failedOver = true;
        conductor.note("another database takes over, without the last " + lost + " commits");
        for (int i = 0; i < lost; i++) {
            commits.removeLast().undo.forEach(Runnable::run);
        }
        crash(down);
    }

    boolean isDown() {
        return conductor.nanos() < downUntil;
    }

    int life() {
        return life;
    }

    // Connections

    Session connect() throws SQLException {
        if (isDown()) {
            conductor.pass(weather.delay(chance()));
            throw new SQLException("the database does not answer", "08001");
        }
        Session session = new Session(this, conductor.current().host());
        sessions.add(session);
        return session;
    }

    void disconnected(Session session) {
        sessions.remove(session);
    }

    /** The server notices that a process is gone: its open transactions are rolled back. */
    public void disconnect(Host host) {
        for (Session session : List.copyOf(sessions)) {
            if (session.host() == host) {
                session.cut();
            }
        }
    }

    // Transactions

    Transaction begin() {
        Transaction transaction = new Transaction(life, micros());
        open.add(transaction);
        return transaction;
    }

    void check(Transaction transaction) throws SQLException {
        if (!transaction.committed && (transaction.ended || transaction.life != life)) {
            throw new SQLException("the server closed the connection unexpectedly", "08006");
        }
    }

    /** Gives it a number if it has none, as everything does that writes or locks. */
    long number(Transaction transaction) {
        if (transaction.number == 0) {
            transaction.number = ++lastTransaction;
        }
        return transaction.number;
    }

    /** Every transaction with a lower number has ended. */
    long oldestRunning() {
        return open.stream()
                .filter(transaction -> transaction.number != 0)
                .mapToLong(transaction -> transaction.number)
                .min()
                .orElse(lastTransaction + 1);
    }

    /** The next number that a transaction would get. */
    long nextTransaction() {
        return lastTransaction + 1;
    }

    void commit(Transaction transaction, String doing) {
        Commit commit = new Commit();
        commits.addLast(commit);
        if (commits.size() > MOST_COMMITS) {
            commits.removeFirst();
        }
        long number = flushedNumber;
        long last = flushedTransaction;
        int known = changes.size();
        commit.undo.add(() -> {
            flushedNumber = number;
            flushedTransaction = last;
            lost.addAll(changes.subList(known, changes.size()).stream()
                    .filter(change -> change.from() == null)
                    .map(Change::id)
                    .toList());
            changes.subList(known, changes.size()).clear();
        });
        current = commit;
        flushedNumber = loggedNumber;
        flushedTransaction = lastTransaction;
        for (Cell<?> cell : transaction.locked) {
            settle(cell, transaction, doing);
        }
        transaction.onCommit.forEach(Runnable::run);
        transaction.committed = true;
        end(transaction);
    }

    @SuppressWarnings("unchecked")
    private <R> void settle(Cell<R> cell, Transaction transaction, String doing) {
        if (cell.owner == transaction && cell.isChanged) {
            R before = cell.committed;
            R after = cell.pending;
            cell.committed = after;
            current.undo.add(0, () -> {
                cell.committed = before;
                if (before instanceof Row row) {
                    messages.put(row.seq, (Cell<Row>) cell);
                } else if (after instanceof Row row) {
                    messages.remove(row.seq);
                }
            });
            if (before instanceof Row || after instanceof Row) {
                changed((Row) before, (Row) after, doing);
            }
        }
    }

    private void changed(@Nullable Row before, @Nullable Row after, String doing) {
        Row either = after == null ? before : after;
        if (either != null) {
            String from = before == null ? null : before.state.name();
            String to = after == null ? null : after.state.name();
            changes.add(new Change(conductor.nanos(), either.id(), from, to, either.crashes, doing));
            conductor.note(doing + ": " + either.seq + " " + from + " -> " + to);
        }
    }

    void rollback(Transaction transaction) {
        if (!transaction.ended) {
            end(transaction);
        }
    }

    private void end(Transaction transaction) {
        transaction.ended = true;
        open.remove(transaction);
        transaction.locked.forEach(cell -> release(transaction, cell));
        messages.values().removeIf(cell -> cell.committed == null && cell.owner == null && cell.sharers.isEmpty());
        wakeAll();
    }

    private static void release(Transaction transaction, Cell<?> cell) {
        cell.sharers.remove(transaction);
        if (cell.owner == transaction) {
            cell.owner = null;
            cell.pending = null;
            cell.isChanged = false;
        }
    }

    private void wakeAll() {
        waiting.forEach(conductor::wake);
        waiting.clear();
    }

    // Locks

    static boolean isFree(Cell<?> cell, Transaction transaction, boolean share) {
        boolean others = cell.owner != null && cell.owner != transaction;
        if (share) {
            return !others;
        }
        return !others && cell.sharers.stream().allMatch(sharer -> sharer == transaction);
    }

    /** Waits for it if need be. A transaction that would wait for itself by that gets a deadlock. */
    void lock(Cell<?> cell, Transaction transaction, boolean share) throws SQLException {
        number(transaction);
        await(cell, transaction, () -> isFree(cell, transaction, share));
        hold(cell, transaction, share);
    }

    /** Waits until no other transaction is about to change it, as an insert does that meets the row of another one. */
    void awaitChange(Cell<?> cell, Transaction transaction) throws SQLException {
        number(transaction);
        await(cell, transaction, () -> !cell.isChanged || isFree(cell, transaction, true));
    }

    private void await(Cell<?> cell, Transaction transaction, BooleanSupplier free) throws SQLException {
        long until = transaction.lockTimeout == 0 ? Long.MAX_VALUE : conductor.nanos() + transaction.lockTimeout;
        boolean waited = false;
        while (!free.getAsBoolean()) {
            transaction.waitsFor = new LinkedHashSet<>(cell.sharers);
            if (cell.owner != null) {
                transaction.waitsFor.add(cell.owner);
            }
            transaction.waitsFor.remove(transaction);
            boolean deadlocked = isDeadlocked(transaction, transaction, new LinkedHashSet<>());
            if (deadlocked || conductor.nanos() >= until) {
                transaction.waitsFor.clear();
                throw deadlocked
                        ? new SQLException("deadlock detected", "40P01")
                        : new SQLException("canceling statement due to lock timeout", "55P03");
            }
            if (!waited) {
                waits(transaction);
            }
            waited = true;
            waiting.add(conductor.current());
            conductor.restUntil(until);
            check(transaction);
        }
        transaction.waitsFor.clear();
    }

    /** A node that stands still in the middle of a claim must not stop the others. */
    private void waits(Transaction transaction) {
        if (transaction.isClaim) {
            stale.add("waits: a claim waits for a row of another transaction");
        } else if (transaction.isProducer && transaction.waitsFor.stream().anyMatch(other -> other.isClaim)) {
            stale.add("waits: a producer waits for a claim");
        }
    }

    /** Nothing can be inserted behind what is there of a topic until this transaction has ended; as InnoDB does at REPEATABLE READ. */
    void lockGap(Transaction transaction, int topicId) {
        number(transaction);
        hold(gaps.computeIfAbsent(topicId, absent -> new Cell<>()), transaction, true);
    }

    void awaitGap(Transaction transaction, int topicId) throws SQLException {
        Cell<Integer> gap = gaps.get(topicId);
        if (gap != null) {
            await(gap, transaction, () -> isFree(gap, transaction, false));
        }
    }

    /** A transaction goes back to before it had locked these. */
    void release(Transaction transaction, List<Cell<?>> cells) {
        transaction.locked.removeAll(cells);
        cells.forEach(cell -> release(transaction, cell));
        wakeAll();
    }

    boolean tryLock(Cell<?> cell, Transaction transaction) {
        boolean free = isFree(cell, transaction, false);
        if (free) {
            number(transaction);
            hold(cell, transaction, false);
        }
        return free;
    }

    private static void hold(Cell<?> cell, Transaction transaction, boolean share) {
        if (share) {
            cell.sharers.add(transaction);
        } else {
            cell.owner = transaction;
        }
        transaction.locked.add(cell);
    }

    private static boolean isDeadlocked(Transaction waiter, Transaction from, Set<Transaction> met) {
        for (Transaction next : from.waitsFor) {
            if (next == waiter || (met.add(next) && isDeadlocked(waiter, next, met))) {
                return true;
            }
        }
        return false;
    }

    // Rows

    /** The messages that a statement of this transaction sees when it begins now. */
    NavigableMap<Long, Row> snapshot(Transaction transaction) {
        NavigableMap<Long, Row> seen = new TreeMap<>();
        messages.forEach((seq, cell) -> {
            Row row = cell.seenBy(transaction);
            if (row != null) {
                seen.put(seq, row);
            }
        });
        return seen;
    }

    /** Locks a row that a statement saw, waiting if need be, and gives a copy of the newest if that still meets the condition. */
    @Nullable
    Row lockRow(Transaction transaction, long seq, Predicate<Row> condition) throws SQLException {
        Cell<Row> cell = messages.get(seq);
        if (cell == null) {
            return null;
        }
        lock(cell, transaction, false);
        return newest(cell, transaction, condition);
    }

    /** The same without waiting. */
    @Nullable
    Row tryLockRow(Transaction transaction, long seq, Predicate<Row> condition) {
        Cell<Row> cell = messages.get(seq);
        return cell == null || !tryLock(cell, transaction) ? null : newest(cell, transaction, condition);
    }

    private static @Nullable Row newest(Cell<Row> cell, Transaction transaction, Predicate<Row> condition) {
        Row row = cell.seenBy(transaction);
        return row != null && condition.test(row) ? row.copy() : null;
    }

    void update(Row row) {
        row.updatedAt = micros();
        Cell<Row> cell = Objects.requireNonNull(messages.get(row.seq));
        cell.pending = row;
        cell.isChanged = true;
    }

    void delete(Row row) {
        Cell<Row> cell = Objects.requireNonNull(messages.get(row.seq));
        cell.pending = null;
        cell.isChanged = true;
    }

    void insert(Transaction transaction, Row row) {
        Cell<Row> cell = messages.computeIfAbsent(row.seq, seq -> new Cell<>());
        if (cell.committed != null || cell.owner != null) {
            throw new AssertionError("a number came twice: " + row.seq);
        }
        hold(cell, transaction, false);
        row.updatedAt = micros();
        cell.pending = row;
        cell.isChanged = true;
        inserted.put(row.id(), row.message.topic());
    }

    /** Of a message that was written, whether or not it was committed. */
    public TopicName topicOf(UUID id) {
        return Objects.requireNonNull(inserted.get(id));
    }

    void update(LaneState lane) {
        Cell<LaneState> cell = Objects.requireNonNull(lanes.get(new Place(lane.topicId, lane.lane)));
        cell.pending = lane;
        cell.isChanged = true;
    }

    /** Drawn by a transaction that already shows as running. */
    long drawNumber(Transaction transaction) {
        number(transaction);
        lastNumber++;
        if (lastNumber > loggedNumber) {
            loggedNumber = lastNumber + LOGGED_AHEAD;
        }
        return lastNumber;
    }

    long lastNumber() {
        return lastNumber;
    }

    /** What is committed now, for the judges of the run. */
    public List<Standing> standing() {
        List<Standing> standing = new ArrayList<>();
        messages.values().forEach(cell -> {
            Row row = cell.committed;
            if (row != null) {
                standing.add(new Standing(row.id(), row.seq, row.state.name(), row.attempts, row.crashes, row.reason));
            }
        });
        return standing;
    }

    /** A message in the table. */
    public record Standing(
            UUID id,
            long seq,
            String state,
            int attempts,
            int crashes,
            @Nullable String reason) {}

    /** An outcome changed a row that does not belong to its claim any more. Called by the statement that changes it, whatever let it through. */
    void settled(String doing, Row row, @Nullable UUID presented, @Nullable UUID actual) {
        if (presented == null || !presented.equals(actual)) {
            stale.add("token: '" + doing + "' changed " + row.seq + " under a token that was no longer its own");
        }
    }

    /**
     * A message was taken from its owner, whatever let that through.
     *
     * @param now when the transaction that takes it looked at the clock
     */
    void deprived(String doing, Row row, long now) {
        if (row.token == null || row.lockedUntil >= now) {
            stale.add("lease: '" + doing + "' took " + row.seq + " as lost, which was " + row.state + " or leased");
        }
    }

    /** A message was written under the lease of a node, which believes that it has so much time from now. */
    void inserted(Row row, long lease) {
        if (row.token != null && row.lockedUntil < micros() + lease / 2) {
            stale.add("lease: " + row.seq + " was written under a lease that is mostly over");
        }
    }

    /** A claim gave so many, whatever made it. */
    void claimed(int count, int limit) {
        if (count > limit) {
            stale.add("limit: a claim of " + limit + " took " + count);
        }
    }

    /** Whether commits were lost in this run, which no promise covers. */
    public boolean hasFailedOver() {
        return failedOver;
    }

    /** Something that a handler does in the transaction of its message. */
    public void effect(Connection connection, UUID id) throws SQLException {
        Session.of(connection).run("effect", transaction -> {
            number(transaction);
            transaction.onCommit.add(() -> {
                Effect effect = new Effect(conductor.nanos(), id);
                effects.add(effect);
                current.undo.add(0, () -> effects.remove(effect));
            });
            return true;
        });
    }

    /** What was done for a message, when it was committed. */
    public record Effect(long atNanos, UUID id) {}

    public List<Effect> effects() {
        return effects;
    }

    /** Something that is done in a transaction, for a command or by a receiver. */
    public void deed(Connection connection, String what, String result) throws SQLException {
        Session.of(connection).run("deed", transaction -> {
            number(transaction);
            transaction.onCommit.add(() -> {
                Deed deed = new Deed(what, result);
                deeds.add(deed);
                current.undo.add(0, () -> deeds.remove(deed));
            });
            return true;
        });
    }

    /** What was done, and with which result, once it was committed. */
    public record Deed(String what, String result) {}

    public List<Deed> deeds() {
        return deeds;
    }

    /** A command came to an end under an ownership that is not its row's any more, whatever let that through. */
    void ended(String doing, CommandState row, UUID presented) {
        if (!row.owner.equals(presented)) {
            stale.add("fence: '" + doing + "' ended a command of another owner");
        }
    }

    /** Commands whose owner was lost longer ago than this, and which are not marked as uncertain. */
    public long forgottenCommands(Duration age) {
        long then = micros() - age.toNanos() / 1000;
        return commands.values().stream()
                .map(cell -> cell.committed)
                .filter(row -> row != null && row.isLost(then))
                .count();
    }

    /** It was removed because of its age, in the commit that is under way. */
    void purged(Row row) {
        if (row.state != RowState.DEAD) {
            stale.add("loss: " + row.seq + " was purged as a dead letter, and was " + row.state);
        }
        discarded(row.id());
    }

    /** An operator removed it, or the time for which dead letters are kept was over, in the commit that is under way. */
    void discarded(UUID id) {
        discarded.add(id);
        current.undo.add(0, () -> discarded.remove(id));
    }

    /** Messages that were removed without having been delivered, as they may be. */
    public Set<UUID> discarded() {
        return discarded;
    }

    /** Messages whose commit a failover has lost. */
    public Set<UUID> lost() {
        return lost;
    }

    public List<String> stale() {
        return stale;
    }

    public List<Change> changes() {
        return changes;
    }
}
