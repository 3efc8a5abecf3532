package dev.postrider.jdbc;

import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.jdbc.command.CommandInserts;
import dev.postrider.jdbc.command.CommandRow;
import dev.postrider.jdbc.command.PostgresCommandInserts;
import dev.postrider.jdbc.inbox.InboxHandlers;
import dev.postrider.jdbc.inbox.InboxStatements;
import dev.postrider.jdbc.outbox.FirstUse;
import dev.postrider.jdbc.outbox.InsertStatements;
import dev.postrider.jdbc.outbox.LeasedInsert;
import dev.postrider.jdbc.outbox.LiveMessage;
import dev.postrider.jdbc.outbox.NewRow;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import dev.postrider.store.ClaimRequest;
import dev.postrider.store.Lease;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What PostgreSQL is asked for messages that are claimed one by one or handled, answered by the simulated database. */
class SimulatedDialect
        implements Dialect,
                InsertStatements,
                ClaimStatements,
                OutcomeStatements,
                HandlingStatements,
                PurgeStatements,
                CommandInserts,
                SessionStatements {

    final SimulatedDatabase database;
    private final SqlRunner sql = SqlRunner.of(DatabaseKind.POSTGRESQL, null, TableOptions.DEFAULT_PREFIX);

    SimulatedDialect(SimulatedDatabase database) {
        this.database = database;
    }

    @Override
    public SqlRunner sql() {
        return sql;
    }

    @Override
    public InsertStatements inserts() {
        return this;
    }

    @Override
    public ClaimStatements claims() {
        return this;
    }

    @Override
    public OutcomeStatements outcomes() {
        return this;
    }

    @Override
    public HandlingStatements handling() {
        return this;
    }

    @Override
    public PurgeStatements purges() {
        return this;
    }

    @Override
    public CommandInserts commandInserts() {
        return this;
    }

    @Override
    public SessionStatements session() {
        return this;
    }

    static long micros(Duration time) {
        return time.toNanos() / 1000;
    }

    private static long micros(Instant time) {
        return time.getEpochSecond() * 1_000_000 + time.getNano() / 1000;
    }

    private static Instant instant(long micros) {
        return Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1000);
    }

    @Override
    public LaneDialect lanes(Duration lockTimeout) {
        SimulatedLanes lanes = simulatedLanes();
        return new LaneDialect(lanes, lanes, lanes, lanes, lanes);
    }

    SimulatedLanes simulatedLanes() {
        return new SimulatedLanes(this);
    }

    // Claiming

    @Override
    public DueClaim claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("claim what is due", transaction -> {
            look(transaction, topicId);
            long began = database.micros();
            Predicate<Row> condition = row -> row.topicId == topicId
                    && row.lane == null
                    && row.state == RowState.PENDING
                    && row.availableAt >= micros(from)
                    && row.availableAt <= began;
            List<Row> due = inOrderOfTime(database.snapshot(transaction), condition);
            long finishedBefore = database.oldestRunning();
            session.meanwhile(transaction);
            List<ClaimedRow> rows = lease(session, transaction, due, condition, request, token, row -> {});
            return new DueClaim(
                    rows,
                    rows.isEmpty()
                            ? null
                            : new DueScanStart.Snapshot(instant(began), database.number(transaction), finishedBefore));
        });
    }

    /** Locks nothing yet. */
    void look(Transaction transaction, int topicId) {
        transaction.isClaim = true;
    }

    private static List<Row> inOrderOfTime(NavigableMap<Long, Row> seen, Predicate<Row> condition) {
        return seen.values().stream()
                .filter(condition)
                .sorted(Comparator.comparingLong((Row row) -> row.availableAt).thenComparingLong(row -> row.seq))
                .toList();
    }

    @Override
    public List<ClaimedRow> claimExpired(
            Connection connection, int topicId, ClaimRequest request, UUID token, Duration span) throws SQLException {
        Session session = Session.of(connection);
        return session.run("claim what has expired", transaction -> {
            transaction.isClaim = true;
            long began = database.micros();
            Predicate<Row> condition = row -> row.topicId == topicId
                    && row.state == RowState.PROCESSING
                    && row.lockedUntil < began
                    && row.lockedUntil >= began - Binder.toMicros(span)
                    && row.attempts < request.maxAttempts();
            List<Row> expired = database.snapshot(transaction).values().stream()
                    .filter(condition)
                    .toList();
            session.meanwhile(transaction);
            return lease(session, transaction, expired, condition, request, token, row -> {
                database.deprived("claim what has expired", row, began);
                row.crashes++;
            });
        });
    }

    /** Passes over what is locked; what was changed meanwhile is looked at again. */
    private List<ClaimedRow> lease(
            Session session,
            Transaction transaction,
            List<Row> candidates,
            Predicate<Row> condition,
            ClaimRequest request,
            UUID token,
            Consumer<Row> change)
            throws SQLException {
        List<ClaimedRow> claimed = new ArrayList<>();
        long bytes = 0;
        for (Row candidate : candidates) {
            if (isFull(claimed, bytes, request) || database.isPaused(candidate.topicId)) {
                break;
            }
            Row row = lockForClaim(transaction, candidate, condition);
            if (row != null) {
                change.accept(row);
                row.state = RowState.PROCESSING;
                row.attempts++;
                row.token = token;
                row.lockedUntil = clock(session) + micros(request.lease());
                database.update(row);
                bytes += row.message.payload().size();
                claimed.add(new ClaimedRow(
                        row.seq,
                        row.id(),
                        row.message,
                        null,
                        null,
                        null,
                        row.attempts,
                        row.crashes,
                        instant(row.availableAt)));
            }
        }
        database.claimed(claimed.size(), request.limit());
        session.meanwhile(transaction);
        return claimed;
    }

    boolean isFull(List<ClaimedRow> claimed, long bytes, ClaimRequest request) {
        return claimed.size() >= request.limit() || bytes >= request.maxBytes();
    }

    /** By which the leases of claims are counted. */
    long clock(Session session) {
        return database.micros();
    }

    @Nullable
    Row lockForClaim(Transaction transaction, Row candidate, Predicate<Row> condition) throws SQLException {
        return database.tryLockRow(transaction, candidate.seq, condition);
    }

    // Outcomes

    /** Changes the rows that have their token, waiting for those that are locked. */
    private Set<LeasedRow> change(Connection connection, String doing, Collection<LeasedRow> rows, Consumer<Row> change)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run(doing, transaction -> {
            NavigableMap<Long, Row> seen = database.snapshot(transaction);
            session.meanwhile(transaction);
            Set<LeasedRow> met = new HashSet<>();
            for (LeasedRow held : inOrder(rows)) {
                Predicate<Row> condition = row -> isHeld(row, held.token());
                Row visible = seen.get(held.seq());
                Row row = visible == null || !condition.test(visible)
                        ? null
                        : database.lockRow(transaction, held.seq(), condition);
                if (row != null) {
                    database.settled(doing, row, held.token(), row.token);
                    change.accept(row);
                    met.add(held);
                }
            }
            session.meanwhile(transaction);
            return met;
        });
    }

    private static List<LeasedRow> inOrder(Collection<LeasedRow> rows) {
        return rows.stream()
                .sorted(Comparator.comparingLong(LeasedRow::seq).thenComparing(LeasedRow::token))
                .toList();
    }

    boolean isHeld(Row row, UUID token) {
        return token.equals(row.token);
    }

    private void free(Row row, RowState state) {
        row.state = state;
        row.token = null;
        row.lockedUntil = 0;
        database.update(row);
    }

    @Override
    public Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, TableOptions.Archive archive)
            throws SQLException {
        return change(connection, "acknowledge", rows, database::delete);
    }

    @Override
    public Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException {
        Map<Long, Duration> delays = new HashMap<>();
        rows.forEach(row -> delays.put(row.row().seq(), row.delay()));
        return change(
                connection, "reschedule", rows.stream().map(Rescheduled::row).toList(), row -> {
                    row.attempts = Math.max(row.attempts, 1);
                    row.availableAt = database.micros() + micros(Objects.requireNonNull(delays.get(row.seq)));
                    free(row, RowState.PENDING);
                });
    }

    /** No simulated topic is encrypted. */
    @Override
    public Set<LeasedRow> postpone(Connection connection, List<Postponed> rows) {
        throw new UnsupportedOperationException("no part of the simulation");
    }

    @Override
    public Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException {
        Map<Long, String> reasons = new HashMap<>();
        rows.forEach(row -> reasons.put(row.row().seq(), row.epitaph().reason()));
        return change(connection, "bury", rows.stream().map(BuriedRow::row).toList(), row -> {
            row.reason = reasons.get(row.seq);
            row.attempts = "EXPIRED".equals(row.reason) ? Math.max(row.attempts - 1, 0) : Math.max(row.attempts, 1);
            free(row, RowState.DEAD);
        });
    }

    @Override
    public Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException {
        return change(connection, "release", rows, this::giveBack);
    }

    private void giveBack(Row row) {
        row.attempts = Math.max(row.attempts - 1, 0);
        row.availableAt = database.micros();
        free(row, RowState.PENDING);
    }

    @Override
    public Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException {
        return change(connection, "extend", rows, row -> {
            row.lockedUntil = database.micros() + micros(lease);
            database.update(row);
        });
    }

    @Override
    public int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        Session session = Session.of(connection);
        return session.run("give back a claim", transaction -> {
            List<Row> held = database.snapshot(transaction).values().stream()
                    .filter(row -> row.topicId == topicId && token.equals(row.token))
                    .toList();
            session.meanwhile(transaction);
            int released = 0;
            for (Row seen : held) {
                Row row = database.lockRow(transaction, seen.seq, newest -> token.equals(newest.token));
                if (row != null) {
                    giveBack(row);
                    released++;
                }
            }
            return released;
        });
    }

    @Override
    public Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException {
        return Session.of(connection).run("look for locked messages", transaction -> {
            Map<Long, Row> seen = database.snapshot(transaction);
            Set<LeasedRow> found = new HashSet<>();
            for (LeasedRow wanted : rows) {
                Row row = seen.get(wanted.seq());
                if (row != null && wanted.token().equals(row.token)) {
                    found.add(wanted);
                }
            }
            return found;
        });
    }

    @Override
    public Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        return Session.of(connection).run("look for messages", transaction -> {
            Map<Long, UUID> present = new HashMap<>();
            database.snapshot(transaction).forEach((seq, row) -> {
                if (seqs.contains(seq)) {
                    present.put(seq, row.id());
                }
            });
            return present;
        });
    }

    // Handling

    private static Predicate<Row> isToBeHad(HandledRow wanted) {
        return row -> row.id().equals(wanted.id())
                && Objects.equals(row.token, wanted.token())
                && wanted.states().contains(row.state);
    }

    private List<Row> lockHandled(Session session, Transaction transaction, List<HandledRow> rows) throws SQLException {
        NavigableMap<Long, Row> seen = database.snapshot(transaction);
        session.meanwhile(transaction);
        List<Row> locked = new ArrayList<>();
        for (HandledRow wanted :
                rows.stream().sorted(Comparator.comparingLong(HandledRow::seq)).toList()) {
            Row visible = seen.get(wanted.seq());
            Row row = visible == null || !isToBeHad(wanted).test(visible)
                    ? null
                    : database.lockRow(transaction, wanted.seq(), isToBeHad(wanted));
            if (row != null) {
                locked.add(row);
            }
        }
        return locked;
    }

    @Override
    public LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException {
        Session session = Session.of(connection);
        return session.run("lock what is to be handled", transaction -> {
            Set<Long> met = new TreeSet<>();
            lockHandled(session, transaction, rows).forEach(row -> met.add(row.seq));
            return new LockedRows(met, null);
        });
    }

    @Override
    public RemovedRows removeHandled(
            Connection connection, List<HandledRow> rows, TableOptions.Archive archive, Duration idle)
            throws SQLException {
        Session session = Session.of(connection);
        return session.run("remove what is handled", transaction -> {
            List<Row> locked = lockHandled(session, transaction, rows);
            locked.forEach(database::delete);
            return new RemovedRows(locked.size(), null);
        });
    }

    @Override
    public Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException {
        return Session.of(connection).run("look for what is to be handled", transaction -> {
            Map<Long, Row> seen = database.snapshot(transaction);
            Set<Long> found = new TreeSet<>();
            for (HandledRow wanted : rows) {
                Row row = seen.get(wanted.seq());
                if (row != null && isToBeHad(wanted).test(row)) {
                    found.add(wanted.seq());
                }
            }
            return found;
        });
    }

    /** A session here ends with its client. */
    @Override
    public void end(Connection connection, ServerSession session) {
        throw new UnsupportedOperationException("no session has a number");
    }

    @Override
    public Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException {
        return Session.of(connection).run("look for handled messages", transaction -> {
            Map<Long, UUID> present = new HashMap<>();
            for (long seq : new TreeSet<>(seqs)) {
                Row row = database.lockRow(transaction, seq, newest -> true);
                if (row != null) {
                    present.put(seq, row.id());
                }
            }
            return present;
        });
    }

    // Housekeeping

    @Override
    public int sweep(Connection connection, int topicId, Sweep sweep) throws SQLException {
        Session session = Session.of(connection);
        return session.run("sweep", transaction -> {
            transaction.isClaim = true;
            long began = database.micros();
            Predicate<Row> condition = row -> row.topicId == topicId
                    && row.state == RowState.PROCESSING
                    && row.lockedUntil < began
                    && row.lockedUntil >= began - Binder.toMicros(sweep.span())
                    && row.attempts >= sweep.maxAttempts();
            List<Row> lost = database.snapshot(transaction).values().stream()
                    .filter(condition)
                    .toList();
            if (!lost.isEmpty()) {
                session.meanwhileForOnce(transaction);
            }
            int buried = 0;
            for (Row seen : lost) {
                Row row = lockForSweep(transaction, seen, condition);
                if (row != null) {
                    database.deprived("sweep", row, began);
                    row.crashes++;
                    row.reason = sweep.epitaph().reason();
                    free(row, RowState.DEAD);
                    buried++;
                }
            }
            return buried;
        });
    }

    @Nullable
    Row lockForSweep(Transaction transaction, Row seen, Predicate<Row> condition) {
        return database.tryLockRow(transaction, seen.seq, condition);
    }

    @Override
    public int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        Session session = Session.of(connection);
        return session.run("purge dead letters", transaction -> {
            transaction.isClaim = true;
            long before = database.micros() - micros(age);
            Predicate<Row> condition = row -> row.state == RowState.DEAD && row.updatedAt < before;
            List<Row> old = database.snapshot(transaction).values().stream()
                    .filter(condition)
                    .limit(limit)
                    .toList();
            if (!old.isEmpty()) {
                session.meanwhileForOnce(transaction);
            }
            int purged = 0;
            for (Row seen : old) {
                Row row = lockForPurge(transaction, seen, condition);
                if (row != null) {
                    database.delete(row);
                    transaction.onCommit.add(() -> database.purged(row));
                    purged++;
                }
            }
            return purged;
        });
    }

    @Nullable
    Row lockForPurge(Transaction transaction, Row seen, Predicate<Row> condition) {
        return database.tryLockRow(transaction, seen.seq, condition);
    }

    @Override
    public Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException {
        return Session.of(connection).run("look for due messages", transaction -> {
            List<Row> rows = List.copyOf(database.snapshot(transaction).values());
            long now = database.micros();
            Map<Integer, Prospect> due = new TreeMap<>();
            peeks.forEach((topicId, peek) -> {
                if (!database.isPaused(topicId)) {
                    due.put(topicId, prospect(rows, topicId, peek, now));
                }
            });
            return due;
        });
    }

    private static Prospect prospect(List<Row> rows, int topicId, Peek peek, long now) {
        Long pending = null;
        Long leased = null;
        for (Row row : rows) {
            if (row.topicId != topicId || row.lane != null) {
                continue;
            }
            if (row.state == RowState.PENDING && row.availableAt >= micros(peek.from())) {
                pending = pending == null ? row.availableAt : Math.min(pending, row.availableAt);
            } else if (row.state == RowState.PROCESSING
                    && peek.span() != null
                    && row.lockedUntil >= now - Binder.toMicros(peek.span())) {
                leased = leased == null ? row.lockedUntil : Math.min(leased, row.lockedUntil);
            }
        }
        return new Prospect(until(pending, now), until(leased, now));
    }

    private static @Nullable Duration until(@Nullable Long micros, long now) {
        return micros == null ? null : Duration.of(micros - now, ChronoUnit.MICROS);
    }

    // Writing

    /** Only the inbox gives an id twice, and its marks keep concurrent ones apart. */
    @Override
    public Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        Session session = Session.of(connection);
        Map<UUID, Long> leased = new LinkedHashMap<>();
        Set<UUID> inserted = session.run("insert", transaction -> {
            transaction.isProducer = true;
            session.meanwhile(transaction);
            Set<UUID> ids = new LinkedHashSet<>();
            for (NewRow row : rows) {
                if (database.snapshot(transaction).values().stream()
                        .noneMatch(there -> there.id().equals(row.id()))) {
                    ids.add(row.id());
                    database.awaitGap(transaction, row.topicId());
                    Row written = insert(
                            transaction,
                            row,
                            leasedInsert != null && leasedInsert.isWanted(row) ? leasedInsert.lease() : null);
                    if (written.token != null) {
                        leased.put(row.id(), written.seq);
                    }
                }
            }
            return ids;
        });
        if (leasedInsert != null) {
            leased.forEach(leasedInsert::inserted);
        }
        return inserted;
    }

    private Row insert(Transaction transaction, NewRow row, @Nullable Lease lease) {
        long now = database.micros();
        Instant deliverAt = row.message().deliverAt();
        long due = deliverAt == null ? now : Math.max(now, micros(deliverAt));
        RowState state = row.lane() != null && due > now ? RowState.SCHEDULED : RowState.PENDING;
        Row written = new Row(database.drawNumber(transaction), row.message(), row.topicId(), row.lane(), state, due);
        if (lease != null && !database.isPaused(row.topicId())) {
            written.state = bornState();
            written.token = lease.token();
            written.lockedUntil = lockedUntil(transaction, lease);
            database.inserted(written, micros(lease.length()));
        }
        database.insert(transaction, written);
        return written;
    }

    RowState bornState() {
        return RowState.PROCESSING;
    }

    long lockedUntil(Transaction transaction, Lease lease) {
        return database.micros() + micros(lease.length());
    }

    // Commands

    @Override
    public Optional<CommandRecord> insertCommand(Connection connection, SqlRunner.Bind bind) throws SQLException {
        return sql.query(connection, PostgresCommandInserts.INSERT_COMMAND, bind, rows -> CommandRow.first(rows, sql));
    }

    /** Waits for a lock as long as it takes: no caller here holds one for as long as the limit. */
    @Override
    public Optional<CommandRecord> insertCommandAlone(
            Connection connection, CommandId id, SqlRunner.Bind bind, Duration lockTimeout) throws SQLException {
        SqlRunner.Bind withId = binder -> {
            bind.to(binder);
            binder.bytes(id.bytes());
        };
        return sql.query(
                connection, PostgresCommandInserts.INSERT_OR_FIND_COMMAND, withId, rows -> CommandRow.first(rows, sql));
    }

    @Override
    public <T> T waitingAtMost(Connection connection, Duration wait, Sessions.Body<T> body) throws SQLException {
        long before = setLockTimeout(connection, wait.toNanos());
        T result = body.run(connection);
        setLockTimeout(connection, before);
        return result;
    }

    private static long setLockTimeout(Connection connection, long nanos) throws SQLException {
        return Session.of(connection).run("set how long to wait for a lock", transaction -> {
            long before = transaction.lockTimeout;
            transaction.lockTimeout = nanos;
            return before;
        });
    }

    @Override
    public InboxStatements inbox() {
        return new SimulatedInbox(this);
    }

    SimulatedCommands commands() {
        return new SimulatedCommands(database);
    }

    /** What is known by its text, as PostgreSQL would get it. */
    final SimulatedSql statements() {
        SimulatedSql known = new SimulatedSql(sql);
        commands().addTo(known, sql);
        known.add(Topics.FIND, "look up a topic", (session, transaction, values) -> {
            Topics.RegisteredTopic topic = database.topic(new TopicName(values.required(), values.required()));
            return SimulatedSql.Answer.rows(topic == null ? List.of() : List.of(row(topic)));
        });
        known.add(
                InboxHandlers.OF_CONSUMER + sql.kind().existenceLock(),
                "look for handlers",
                (session, transaction, values) -> {
                    String consumer = values.text();
                    List<Map<String, @Nullable Object>> rows = new ArrayList<>();
                    database.handlers.stream()
                            .filter(handler -> handler.consumer().equals(consumer))
                            .forEach(handler -> rows.add(Map.of("handler", handler.name(), "type", handler.type())));
                    return SimulatedSql.Answer.rows(rows);
                });
        return known;
    }

    private static Map<String, @Nullable Object> row(Topics.RegisteredTopic topic) {
        Map<String, @Nullable Object> row = new LinkedHashMap<>();
        row.put("id", topic.id());
        row.put("lanes", topic.lanes());
        row.put("tenant_prefixed_keys", topic.tenantPrefixedKeys());
        row.put("removed_at", null);
        return row;
    }

    // What no node asks for in a run

    @Override
    public Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException {
        return Session.of(connection).run("live", transaction -> {
            Map<UUID, LiveMessage> live = new LinkedHashMap<>();
            for (Row row : database.snapshot(transaction).values()) {
                if (ids.contains(row.id())) {
                    live.put(row.id(), LiveMessage.of(new NewRow(row.message, row.topicId, row.lane, null, null)));
                }
            }
            return live;
        });
    }

    @Override
    public Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks) {
        throw unused();
    }

    @Override
    public long id(Connection connection) {
        throw unused();
    }

    @Override
    public int purgeArchive(Connection connection, Duration age, Duration span, int limit) {
        throw unused();
    }

    @Override
    public int purgeKeys(Connection connection, Duration age, Duration span, int limit) {
        throw unused();
    }

    static UnsupportedOperationException unused() {
        return new UnsupportedOperationException("no part of the simulation");
    }
}
