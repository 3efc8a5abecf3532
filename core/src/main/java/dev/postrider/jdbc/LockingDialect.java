package dev.postrider.jdbc;

import dev.postrider.store.ClaimRequest;
import dev.postrider.store.CommandId;
import dev.postrider.store.CommandRecord;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A database whose statements do not return the changed rows. Each operation locks the rows under their token, changes them by
 * number, and compares the two counts. It runs in one short transaction.
 */
abstract class LockingDialect extends Dialect {

    /** The text of an INSERT is cached up to this number of rows, and for a full statement, because these sizes repeat. */
    private static final int KEPT_ROWS = 16;

    private record Rows(String insert, int count) {}

    private final Map<Rows, String> inserts = new ConcurrentHashMap<>();

    LockingDialect(Tables tables) {
        super(tables);
    }

    /** An expression for the microseconds from now until the given time, negative for a past time. */
    abstract String microsUntil(String time);

    /**
     * Inserts the marks that do not exist yet and returns their number. Every transaction inserts marks in the same order, which
     * prevents deadlocks: this method keeps the given order.
     */
    abstract int insertMarks(Connection connection, List<NewRow> rows) throws SQLException;

    /** As {@link #insertMarks}, for the marks of the inbox. */
    abstract int insertInboxMarks(Connection connection, String consumer, List<InboxMark> marks) throws SQLException;

    /** The clause that limits a DELETE to a number of rows, oldest first where the database supports that. */
    abstract String oldestFirst(String columns);

    /** The clause that makes a SELECT read the newest committed rows, also in a transaction with an older snapshot. */
    abstract String lockingRead();

    /** The clause that makes a SELECT lock its rows against changes until the transaction ends. */
    abstract String shareLock();

    /** The hint after the message table that forces the lane index regardless of statistics. The index is ordered by number. */
    String byLane() {
        return "";
    }

    /** The hint after a table that forces this index regardless of statistics. */
    String byIndex(String name) {
        return "";
    }

    /** A time literal that means never. */
    String never() {
        return "'9999-12-31 00:00:00'";
    }

    /** The placeholder of a time parameter that may be null. Some databases need an explicit type. */
    String timeParameter() {
        return "?";
    }

    @Override
    LaneStatements lanes(Duration lockTimeout) {
        return new LockingLanes(this);
    }

    @Override
    InboxStatements inbox() {
        return new LockingInbox(this);
    }

    @Override
    String existenceLock() {
        return shareLock();
    }

    // Writing

    @Override
    Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert)
            throws SQLException {
        return new LockingInsert(this, connection, leasedInsert).insert(rows);
    }

    /** Inserts all rows in their order. If it fails, no row is inserted. */
    void insertRows(Connection connection, Collection<NewRow> rows) throws SQLException {
        String insert = withRows(LockingSql.INSERT, LockingSql.INSERT_ROW, rows.size());
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(insert)) {
            Binder binder = bind(statement);
            for (NewRow row : rows) {
                binder.row(row);
            }
            expect(rows.size(), statement.executeUpdate(), "insert messages");
        }
    }

    static void rollbackTo(Connection connection, Savepoint savepoint, Throwable reason) {
        try {
            connection.rollback(savepoint);
        } catch (SQLException e) {
            reason.addSuppressed(e); // a deadlock rolls back the whole transaction and removes the savepoint
        }
    }

    @Override
    Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks) throws SQLException {
        Map<NewRow.Mark, FirstUse> found = new HashMap<>();
        for (Map.Entry<Integer, List<NewRow.Mark>> topic : byTopic(marks).entrySet()) {
            String select =
                    in(LockingSql.FIRST_USES + lockingRead(), topic.getValue().size());
            found.putAll(query(connection, select, binder -> bindMarks(binder, topic), this::firstUses));
        }
        return found;
    }

    @Override
    Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException {
        return query(
                connection,
                in(LockingSql.LIVE + lockingRead(), ids.size()),
                binder -> {
                    for (UUID id : padded(ids)) {
                        binder.uuid(id);
                    }
                },
                this::liveMessages);
    }

    private static Map<Integer, List<NewRow.Mark>> byTopic(Collection<NewRow.Mark> marks) {
        return marks.stream().collect(Collectors.groupingBy(mark -> mark.topicId));
    }

    private static void bindMarks(Binder binder, Map.Entry<Integer, List<NewRow.Mark>> topic) throws SQLException {
        binder.integer(topic.getKey());
        for (NewRow.Mark mark : padded(topic.getValue())) {
            binder.bytes(mark.keyHash);
        }
    }

    // Claiming

    @Override
    TransactionEnd.ImplicitCommits implicitCommits() {
        return TransactionEnd.ImplicitCommits.DDL;
    }

    @Override
    TransactionProof transactionProof() {
        return new TransactionProof.BySavepoint();
    }

    /** Whether the release of a savepoint fails when its transaction no longer exists. */
    boolean checksSavepoints() {
        return true;
    }

    @Override
    boolean worksInSingleStatements() {
        return false;
    }

    @Override
    Due claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        List<Long> locked = query(
                connection,
                withTenants(LockingSql.LOCK_DUE, request),
                binder -> bindLock(binder.integer(topicId).time(from), topicId, request),
                rows -> upToBudget(rows, request.maxBytes()));
        return new Due(lease(connection, LockingSql.LEASE_DUE, locked, request, token), null);
    }

    /** Ignores the span: leases have no index of their own, so the statement reads all leased rows in any case. */
    @Override
    List<ClaimedRow> claimExpired(Connection connection, int topicId, ClaimRequest request, UUID token, Duration span)
            throws SQLException {
        List<Long> locked = query(
                connection,
                withTenants(LockingSql.LOCK_EXPIRED, request),
                binder -> bindLock(binder.integer(topicId).integer(request.maxAttempts()), topicId, request),
                rows -> upToBudget(rows, request.maxBytes()));
        return lease(connection, LockingSql.LEASE_EXPIRED, locked, request, token);
    }

    private static String withTenants(String select, ClaimRequest request) {
        int count = request.tenants().size();
        return select.replace("{tenants}", count == 0 ? "" : " AND tenant IN (" + placeholders(count) + ")");
    }

    private static void bindLock(Binder binder, int topicId, ClaimRequest request) throws SQLException {
        for (String tenant : padded(request.tenants())) {
            binder.text(tenant);
        }
        binder.integer(topicId).integer(request.limit());
    }

    private static List<Long> upToBudget(ResultSet rows, long maxBytes) throws SQLException {
        List<Long> seqs = new ArrayList<>();
        long bytes = 0;
        while (rows.next() && bytes < maxBytes) {
            seqs.add(rows.getLong("seq"));
            bytes += rows.getLong("bytes");
        }
        return seqs;
    }

    private List<ClaimedRow> lease(
            Connection connection, String update, List<Long> seqs, ClaimRequest request, UUID token)
            throws SQLException {
        if (seqs.isEmpty()) {
            return List.of();
        }
        change(
                connection,
                update,
                seqs,
                "lease messages",
                binder -> binder.uuid(token).text(request.worker()).micros(request.lease()));
        return query(
                connection, in(LockingSql.READ, seqs.size()), binder -> bindNumbers(binder, seqs), this::claimedRows);
    }

    // Outcomes

    @Override
    Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, JdbcOptions.Archive archive)
            throws SQLException {
        Set<LeasedRow> held = lockHeld(connection, rows);
        if (archive != JdbcOptions.Archive.OFF) {
            boolean withPayload = archive == JdbcOptions.Archive.FULL;
            change(connection, LockingSql.COPY, numbers(held), "archive messages", binder -> binder.flag(withPayload));
        }
        change(connection, LockingSql.DELETE, numbers(held), "delete delivered messages", binder -> {});
        return held;
    }

    @Override
    Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException {
        Set<LeasedRow> held =
                lockHeld(connection, rows.stream().map(Rescheduled::row).toList());
        Set<LeasedRow> changed = new HashSet<>();
        for (Rescheduled row : rows) {
            if (!held.contains(row.row())) {
                continue;
            }
            int met = update(
                    connection,
                    LockingSql.RESCHEDULE,
                    binder -> binder.micros(row.delay())
                            .text(row.error())
                            .number(row.row().seq())
                            .uuid(row.row().token()));
            if (met == 1) {
                changed.add(row.row());
            }
        }
        return changed;
    }

    @Override
    Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException {
        Set<LeasedRow> held =
                lockHeld(connection, rows.stream().map(BuriedRow::row).toList());
        Set<LeasedRow> changed = new HashSet<>();
        for (BuriedRow row : rows) {
            if (!held.contains(row.row())) {
                continue;
            }
            int met = update(
                    connection,
                    LockingSql.BURY,
                    binder -> binder.text(row.epitaph().reason())
                            .text(row.epitaph().error())
                            .text(row.epitaph().fingerprint())
                            .number(row.row().seq())
                            .uuid(row.row().token()));
            if (met == 1) {
                changed.add(row.row());
            }
        }
        return changed;
    }

    @Override
    Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException {
        Set<LeasedRow> held = lockHeld(connection, rows);
        change(connection, LockingSql.RELEASE, numbers(held), "release messages", binder -> {});
        return held;
    }

    @Override
    int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        Set<Long> held = query(
                connection,
                LockingSql.LOCK_CLAIM,
                binder -> binder.integer(topicId).uuid(token),
                Dialect::numbers);
        change(connection, LockingSql.RELEASE, held, "release a claim", binder -> {});
        return held.size();
    }

    @Override
    Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException {
        Set<LeasedRow> held = lockHeld(connection, rows);
        change(connection, LockingSql.EXTEND, numbers(held), "extend leases", binder -> binder.micros(lease));
        return held;
    }

    @Override
    Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException {
        return held(connection, rows, "");
    }

    private Set<LeasedRow> lockHeld(Connection connection, List<LeasedRow> rows) throws SQLException {
        return held(connection, rows, "FOR UPDATE SKIP LOCKED");
    }

    private Set<LeasedRow> held(Connection connection, List<LeasedRow> rows, String lock) throws SQLException {
        List<Long> seqs = rows.stream().map(LeasedRow::seq).toList();
        List<UUID> tokens = rows.stream().map(LeasedRow::token).distinct().toList();
        String select = LockingSql.LEASED.replace("{tokens}", placeholders(tokens.size())) + lock;
        Set<LeasedRow> locked = query(
                connection,
                in(select, seqs.size()),
                binder -> {
                    bindNumbers(binder, seqs);
                    for (UUID token : padded(tokens)) {
                        binder.uuid(token);
                    }
                },
                this::leasedRows);
        locked.retainAll(new HashSet<>(rows));
        return locked;
    }

    private static List<Long> numbers(Set<LeasedRow> rows) {
        return rows.stream().map(LeasedRow::seq).sorted().toList();
    }

    @Override
    Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        return query(
                connection,
                in(LockingSql.PRESENT, seqs.size()),
                binder -> bindNumbers(binder, seqs),
                this::numbersWithIds);
    }

    // Handling

    /** Ignores the idle limit: {@link IdleLimit} sets it on the session before, where the database has one. */
    @Override
    LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException {
        return handled(connection, rows, " FOR UPDATE SKIP LOCKED");
    }

    @Override
    Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException {
        return handled(connection, rows, "").seqs();
    }

    private LockedRows handled(Connection connection, List<HandledRow> rows, String lock) throws SQLException {
        Map<Long, HandledRow> wanted = new HashMap<>();
        rows.forEach(row -> wanted.put(row.seq(), row));
        String select = LockingSql.HANDLED.replace("{session}", sessionId()) + lock;
        return query(
                connection,
                in(select, rows.size()),
                binder -> bindNumbers(binder, rows.stream().map(HandledRow::seq).toList()),
                found -> {
                    Set<Long> met = new TreeSet<>();
                    ServerSession session = null;
                    while (found.next()) {
                        session = serverSession(found);
                        HandledRow row = wanted.get(found.getLong("seq"));
                        if (row != null && row.equals(asFound(found, row.states()))) {
                            met.add(row.seq());
                        }
                    }
                    return new LockedRows(met, session);
                });
    }

    private HandledRow asFound(ResultSet row, Set<String> wanted) throws SQLException {
        UUID token = row.getBytes("lease_token") == null ? null : readUuid(row, "lease_token");
        String state = row.getString("state");
        return new HandledRow(
                row.getLong("seq"), readUuid(row, "id"), token, wanted.contains(state) ? wanted : Set.of(state));
    }

    @Override
    RemovedRows removeHandled(Connection connection, List<HandledRow> rows, JdbcOptions.Archive archive, Duration idle)
            throws SQLException {
        LockedRows locked = lockHandled(connection, rows, idle);
        Set<Long> met = locked.seqs();
        if (archive != JdbcOptions.Archive.OFF) {
            boolean inLanes = rows.get(0).token() == null;
            boolean withPayload = archive == JdbcOptions.Archive.FULL;
            change(
                    connection,
                    inLanes ? LockingLaneSql.COPY : LockingSql.COPY,
                    met,
                    "archive messages",
                    binder -> binder.flag(withPayload));
        }
        change(connection, LockingSql.DELETE, met, "delete handled messages", binder -> {});
        return new RemovedRows(met.size(), locked.session());
    }

    @Override
    Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException {
        return query(
                connection,
                in(LockingSql.PRESENT + " FOR UPDATE", seqs.size()),
                binder -> bindNumbers(binder, seqs),
                this::numbersWithIds);
    }

    // Maintenance

    @Override
    int sweep(Connection connection, int topicId, int maxAttempts, DeathRecord epitaph, Duration span, int limit)
            throws SQLException {
        Set<Long> lost = query(
                connection,
                LockingSql.LOCK_LOST,
                binder -> binder.integer(topicId).integer(maxAttempts).integer(limit),
                Dialect::numbers);
        change(
                connection,
                LockingSql.SWEEP,
                lost,
                "bury lost messages",
                binder -> binder.text(epitaph.reason()).text(epitaph.error()).text(epitaph.fingerprint()));
        return lost.size();
    }

    @Override
    Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException {
        String one = LockingSql.NEXT_DUE
                .replace("{until pending}", microsUntil("m.available_at"))
                .replace("{until leased}", microsUntil("m.locked_until"));
        String all = String.join(" UNION ALL ", Collections.nCopies(peeks.size(), one));
        return query(
                connection,
                all,
                binder -> {
                    for (Map.Entry<Integer, Peek> topic : peeks.entrySet()) {
                        binder.time(topic.getValue().from()).integer(topic.getKey());
                    }
                },
                rows -> {
                    Map<Integer, Prospect> due = new HashMap<>();
                    while (rows.next()) {
                        due.put(rows.getInt("id"), prospect(rows));
                    }
                    return due;
                });
    }

    @Override
    int purgeArchive(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        String delete = "DELETE FROM {archive} WHERE delivered_at < {ago} AND delivered_at >= {ago} "
                + oldestFirst("delivered_at, seq");
        return update(
                connection,
                delete,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit));
    }

    @Override
    int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        Set<Long> old = query(
                connection,
                LockingSql.LOCK_OLD_DEAD,
                binder -> binder.micros(age).integer(limit),
                Dialect::numbers);
        change(connection, LockingSql.PURGE_DEAD, old, "purge dead letters", binder -> {});
        return old.size();
    }

    @Override
    int purgeKeys(Connection connection, Duration age, Duration span, int limit) throws SQLException {
        List<NewRow.Mark> old = query(
                connection,
                LockingSql.LOCK_OLD_KEYS,
                binder -> binder.micros(age).micros(age.plus(span)).integer(limit),
                LockingDialect::marks);
        int removed = 0;
        for (Map.Entry<Integer, List<NewRow.Mark>> topic : byTopic(old).entrySet()) {
            String delete = in(LockingSql.PURGE_KEYS, topic.getValue().size());
            removed += update(connection, delete, binder -> bindMarks(binder, topic));
        }
        return removed;
    }

    private static List<NewRow.Mark> marks(ResultSet rows) throws SQLException {
        List<NewRow.Mark> marks = new ArrayList<>();
        while (rows.next()) {
            marks.add(new NewRow.Mark(rows.getInt("topic_id"), rows.getBytes("key_hash"), new byte[0]));
        }
        return marks;
    }

    // Commands

    @Override
    Optional<CommandRecord> insertCommand(Connection connection, Bind bind) throws SQLException {
        insertUnlessThere(connection, bind);
        return Optional.empty();
    }

    /** Inserts the row unless it exists. On these databases a duplicate key rolls back only its own statement. */
    private void insertUnlessThere(Connection connection, Bind bind) throws SQLException {
        try {
            update(connection, CommandSql.INSERT, bind);
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicateKey(e)) {
                throw e;
            }
        }
    }

    @Override
    final Optional<CommandRecord> insertCommandAlone(
            Connection connection, CommandId id, Bind bind, Duration lockTimeout) throws SQLException {
        insertUnlessThere(connection, bind);
        return Optional.empty();
    }

    @Override
    String newestRead() {
        return lockingRead();
    }

    // Lists of parameters

    /**
     * Changes rows that this transaction has locked. Throws if the statement changes another number of rows, so that the caller
     * rolls the transaction back.
     *
     * @param first binds the parameters before the numbers
     */
    final void change(Connection connection, String update, Collection<Long> seqs, String doing, Bind first)
            throws SQLException {
        if (!seqs.isEmpty()) {
            int met = update(connection, in(update, seqs.size()), binder -> {
                first.to(binder);
                bindNumbers(binder, seqs);
            });
            expect(seqs.size(), met, doing);
        }
    }

    static Binder bindIntegers(Binder binder, Collection<Integer> values) throws SQLException {
        for (Integer value : padded(values)) {
            binder.integer(value);
        }
        return binder;
    }

    static Binder bindNumbers(Binder binder, Collection<Long> seqs) throws SQLException {
        for (Long seq : padded(seqs)) {
            binder.number(seq);
        }
        return binder;
    }

    /** Returns the INSERT for this number of rows. */
    final String withRows(String insert, String row, int count) {
        return count <= KEPT_ROWS || count == JdbcOutbox.ROWS_PER_STATEMENT
                ? inserts.computeIfAbsent(new Rows(insert, count), rows -> build(insert, row, count))
                : build(insert, row, count);
    }

    private String build(String insert, String row, int count) {
        return sqlOnce(insert.replace("{rows}", String.join(", ", Collections.nCopies(count, row)))
                .replace("{time}", timeParameter()));
    }

    static void expect(int wanted, int met, String doing) throws SQLException {
        if (wanted != met) {
            throw new SQLException("Could not " + doing + ": expected " + wanted + " rows but changed " + met);
        }
    }

    /** Returns the statement for a list of this many values. Lists are padded to a few lengths, so that statements repeat. */
    static String in(String statement, int count) {
        return statement.replace("{values}", placeholders(count));
    }

    private static String placeholders(int count) {
        return String.join(", ", Collections.nCopies(paddedSize(count), "?"));
    }

    /** Repeats the last value up to the next power of two. Duplicates do not change the result of an IN list. */
    static <T> List<T> padded(Collection<T> values) {
        List<T> padded = new ArrayList<>(values);
        while (padded.size() < paddedSize(values.size())) {
            padded.add(padded.get(padded.size() - 1));
        }
        return padded;
    }

    static int paddedSize(int count) {
        return count == 0 ? 0 : Integer.highestOneBit(count * 2 - 1);
    }
}
