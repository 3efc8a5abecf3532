package dev.postrider.jdbc;

import dev.postrider.store.ClaimRequest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Databases that do not return what they changed: the rows are locked first, under the token, then changed by number, and the
 * counts must agree. Always within one short transaction.
 */
abstract class LockingDialect extends Dialect {

    /** Up to how many rows the text of an INSERT is kept, because it comes again and again; that of a full one is, too. */
    private static final int KEPT_ROWS = 16;

    private record Rows(String insert, int count) {}

    private final Map<Rows, String> inserts = new ConcurrentHashMap<>();

    LockingDialect(Tables tables) {
        super(tables);
    }

    /** Microseconds from now to the given expression, negative when it is past. */
    abstract String microsUntil(String time);

    /**
     * Inserts marks, leaving out those that are taken; in the given order, which is the same for everyone. Returns how many it
     * inserted.
     */
    abstract int insertMarks(Connection connection, List<NewRow> rows) throws SQLException;

    /** What makes a DELETE take so many rows, the oldest first where that can be said. */
    abstract String oldestFirst(String columns);

    /** What is added to a SELECT so that it reads the newest committed rows, also in a transaction with an older snapshot. */
    abstract String lockingRead();

    /** What is added to a SELECT so that nobody changes the rows before the transaction ends. */
    abstract String shareLock();

    /** A time that does not come. */
    String never() {
        return "'9999-12-31 00:00:00'";
    }

    /** A parameter that may be a null time; some databases want to be told its type. */
    String timeParameter() {
        return "?";
    }

    @Override
    LaneStatements lanes() {
        return new LockingLanes(this);
    }

    // Writing

    @Override
    Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable Birth birth) throws SQLException {
        List<NewRow> keyed = rows.stream().filter(row -> row.mark() != null).toList();
        if (keyed.isEmpty()) {
            return insertMessages(connection, rows, birth);
        }
        return rows.size() == 1
                ? insertWithMark(connection, rows.get(0), birth)
                : insertWithMarks(connection, rows, inMarkOrder(keyed), birth);
    }

    // A mark without its message would swallow the event for ever: both or neither, also when the caller goes on after
    // an error.

    /** One mark can be taken back by itself, which saves the two round trips of a savepoint. */
    private Set<UUID> insertWithMark(Connection connection, NewRow row, @Nullable Birth birth) throws SQLException {
        if (insertMarks(connection, List.of(row)) == 0) {
            return Set.of();
        }
        try {
            return insertMessages(connection, List.of(row), birth);
        } catch (Throwable e) {
            takeBack(connection, row, e);
            throw e;
        }
    }

    /** If the mark cannot be taken back, the transaction cannot be saved; after a conflict it is lost already. */
    private void takeBack(Connection connection, NewRow row, Throwable reason) {
        if (reason instanceof SQLException e && SqlErrors.isConflict(e)) {
            Sessions.rollback(connection, reason);
            return;
        }
        try {
            NewRow.Mark mark = row.requireMark();
            int met = update(
                    connection,
                    LockingSql.TAKE_BACK_MARK,
                    binder -> binder.integer(mark.topicId).bytes(mark.keyHash).uuid(row.id()));
            expect(1, met, "take back an idempotency key");
        } catch (Throwable e) {
            reason.addSuppressed(e);
            Sessions.rollback(connection, reason);
        }
    }

    private Set<UUID> insertWithMarks(
            Connection connection, List<NewRow> rows, List<NewRow> keyed, @Nullable Birth birth) throws SQLException {
        Savepoint savepoint = connection.setSavepoint();
        try {
            Set<NewRow.Mark> first = newMarks(connection, keyed, savepoint);
            Set<UUID> inserted = insertMessages(connection, firstUses(rows, first), birth);
            connection.releaseSavepoint(savepoint);
            return inserted;
        } catch (Throwable e) {
            rollbackTo(connection, savepoint, e);
            throw e;
        }
    }

    /**
     * Inserts the marks that are not taken, and says which. The count tells it, except when some are taken: then those that name
     * our messages are new, unless there are more of them than were inserted, because the same message was written before.
     */
    private Set<NewRow.Mark> newMarks(Connection connection, List<NewRow> keyed, Savepoint before) throws SQLException {
        int inserted = insertMarks(connection, keyed);
        Set<NewRow.Mark> marks = new TreeSet<>();
        if (inserted == 0) {
            return marks;
        }
        keyed.forEach(row -> marks.add(row.requireMark()));
        if (inserted == marks.size()) {
            return marks;
        }
        Map<NewRow.Mark, FirstUse> uses = firstUses(connection, marks);
        Set<NewRow.Mark> ours = new TreeSet<>();
        keyed.stream().filter(row -> isNamed(row, uses)).forEach(row -> ours.add(row.requireMark()));
        if (inserted == ours.size()) {
            return ours;
        }
        connection.rollback(before);
        return newMarksOneByOne(connection, keyed);
    }

    private static boolean isNamed(NewRow row, Map<NewRow.Mark, FirstUse> uses) {
        FirstUse use = uses.get(row.requireMark());
        return use != null && use.id().equals(row.message().id());
    }

    private Set<NewRow.Mark> newMarksOneByOne(Connection connection, List<NewRow> keyed) throws SQLException {
        Set<NewRow.Mark> ours = new TreeSet<>();
        for (NewRow row : keyed) {
            if (insertMarks(connection, List.of(row)) == 1) {
                ours.add(row.requireMark());
            }
        }
        return ours;
    }

    /** The rows without a key, and the first of each new mark, in their order. */
    private static List<NewRow> firstUses(List<NewRow> rows, Set<NewRow.Mark> marks) {
        Set<NewRow.Mark> left = new TreeSet<>(marks);
        return rows.stream()
                .filter(row -> row.mark() == null || left.remove(row.mark()))
                .toList();
    }

    /** Stable, so that of two messages with one key the first takes it. */
    private static List<NewRow> inMarkOrder(List<NewRow> keyed) {
        List<NewRow> sorted = new ArrayList<>(keyed);
        sorted.sort((a, b) -> a.requireMark().compareTo(b.requireMark()));
        return sorted;
    }

    static void rollbackTo(Connection connection, Savepoint savepoint, Throwable reason) {
        try {
            connection.rollback(savepoint);
        } catch (SQLException e) {
            reason.addSuppressed(e); // after a deadlock the whole transaction is gone, and the savepoint with it
        }
    }

    /** An id that is there already is left out and the rest tried again; the failed statement itself left nothing behind. */
    private Set<UUID> insertMessages(Connection connection, List<NewRow> rows, @Nullable Birth birth)
            throws SQLException {
        Map<UUID, NewRow> remaining = new LinkedHashMap<>();
        rows.forEach(row -> remaining.putIfAbsent(row.id(), row));
        for (int attempt = 0; !remaining.isEmpty(); attempt++) {
            try {
                insertRows(connection, remaining.values(), birth);
                return remaining.keySet();
            } catch (SQLException e) {
                if (!SqlErrors.isDuplicateKey(e) || attempt > 2) {
                    throw e;
                }
                remaining.keySet().removeAll(liveIds(connection, remaining.keySet()));
            }
        }
        return Set.of();
    }

    private void insertRows(Connection connection, Collection<NewRow> rows, @Nullable Birth birth) throws SQLException {
        List<NewRow> born = birth == null ? List.of() : open(connection, birth.wanted(rows));
        if (birth == null || born.isEmpty()) {
            insertRows(connection, rows);
        } else {
            insertBorn(connection, rows, birth, born);
        }
    }

    /** Inserts all of them, in their order, or fails and inserts none. */
    void insertRows(Connection connection, Collection<NewRow> rows) throws SQLException {
        String insert = withRows(LockingSql.INSERT, LockingSql.INSERT_ROW, rows.size());
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            Binder binder = bind(statement);
            for (NewRow row : rows) {
                binder.row(row);
            }
            expect(rows.size(), statement.executeUpdate(), "insert messages");
        }
    }

    /** Looked at before the insert and not in it, where it would lock the row of the topic until the commit. */
    private List<NewRow> open(Connection connection, List<NewRow> wanted) throws SQLException {
        List<Integer> topics = wanted.stream().map(NewRow::topicId).distinct().toList();
        if (topics.isEmpty()) {
            return wanted;
        }
        Set<Integer> paused = query(
                connection,
                in(LockingSql.PAUSED, topics.size()),
                binder -> {
                    for (Integer topic : padded(topics)) {
                        binder.integer(topic);
                    }
                },
                LockingDialect::topicNumbers);
        return wanted.stream().filter(row -> !paused.contains(row.topicId())).toList();
    }

    private static Set<Integer> topicNumbers(ResultSet rows) throws SQLException {
        Set<Integer> numbers = new HashSet<>();
        while (rows.next()) {
            numbers.add(rows.getInt("id"));
        }
        return numbers;
    }

    private void insertBorn(Connection connection, Collection<NewRow> rows, Birth birth, List<NewRow> born)
            throws SQLException {
        Set<NewRow> leased = new HashSet<>(born);
        String values = rows.stream()
                .map(row -> leased.contains(row) ? LockingSql.INSERT_BORN_ROW : LockingSql.INSERT_UNBORN_ROW)
                .collect(Collectors.joining(", "));
        String insert = sqlOnce(LockingSql.INSERT_BORN.replace("{rows}", values).replace("{time}", timeParameter()));
        try (PreparedStatement statement = connection.prepareStatement(insert, Statement.RETURN_GENERATED_KEYS)) {
            Binder binder = bind(statement);
            for (NewRow row : rows) {
                binder.row(row);
                if (leased.contains(row)) {
                    binder.uuid(birth.lease().token())
                            .text(birth.lease().holder())
                            .micros(birth.lease().length());
                }
            }
            expect(rows.size(), statement.executeUpdate(), "insert messages");
            if (rows.size() == 1) {
                birth.born(born.get(0).message().id().value(), generatedNumber(statement));
            } else {
                numbers(connection, born).forEach((seq, id) -> birth.born(id, seq));
            }
        }
    }

    private static long generatedNumber(PreparedStatement statement) throws SQLException {
        try (ResultSet keys = statement.getGeneratedKeys()) {
            if (!keys.next()) {
                throw new SQLException("The driver does not say which number the message was given");
            }
            return keys.getLong(1);
        }
    }

    /** Drivers differ in what they say of several rows, so they are read back. */
    private Map<Long, UUID> numbers(Connection connection, List<NewRow> rows) throws SQLException {
        return query(
                connection,
                in(LockingSql.NUMBERS, rows.size()),
                binder -> {
                    for (NewRow row : padded(rows)) {
                        binder.uuid(row.message().id().value());
                    }
                },
                this::numbersWithIds);
    }

    private Set<UUID> liveIds(Connection connection, Set<UUID> ids) throws SQLException {
        return query(
                connection,
                in(LockingSql.LIVE_IDS + lockingRead(), ids.size()),
                binder -> {
                    for (UUID id : padded(ids)) {
                        binder.uuid(id);
                    }
                },
                this::ids);
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
    boolean worksInSingleStatements() {
        return false;
    }

    @Override
    List<ClaimedRow> claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        List<Long> locked = query(
                connection,
                withTenants(LockingSql.LOCK_DUE, request),
                binder -> bindLock(binder.integer(topicId).time(from), topicId, request),
                rows -> upToBudget(rows, request.maxBytes()));
        return lease(connection, LockingSql.LEASE_DUE, locked, request, token);
    }

    @Override
    List<ClaimedRow> claimExpired(Connection connection, int topicId, ClaimRequest request, UUID token)
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
    Set<HeldRow> acknowledge(Connection connection, List<HeldRow> rows, JdbcOptions.Archive archive)
            throws SQLException {
        Set<HeldRow> held = lockHeld(connection, rows);
        if (archive != JdbcOptions.Archive.OFF) {
            boolean withPayload = archive == JdbcOptions.Archive.FULL;
            change(connection, LockingSql.COPY, numbers(held), "archive messages", binder -> binder.flag(withPayload));
        }
        change(connection, LockingSql.DELETE, numbers(held), "delete delivered messages", binder -> {});
        return held;
    }

    @Override
    Set<HeldRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException {
        Set<HeldRow> changed = new HashSet<>();
        for (Rescheduled row : rows) {
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
    Set<HeldRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException {
        Set<HeldRow> changed = new HashSet<>();
        for (BuriedRow row : rows) {
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
    Set<HeldRow> release(Connection connection, List<HeldRow> rows) throws SQLException {
        Set<HeldRow> held = lockHeld(connection, rows);
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
    Set<HeldRow> extend(Connection connection, List<HeldRow> rows, Duration lease) throws SQLException {
        Set<HeldRow> held = lockHeld(connection, rows);
        change(connection, LockingSql.EXTEND, numbers(held), "extend leases", binder -> binder.micros(lease));
        return held;
    }

    private Set<HeldRow> lockHeld(Connection connection, List<HeldRow> rows) throws SQLException {
        List<Long> seqs = rows.stream().map(HeldRow::seq).toList();
        List<UUID> tokens = rows.stream().map(HeldRow::token).distinct().toList();
        String lock = LockingSql.LOCK_HELD.replace("{tokens}", placeholders(tokens.size()));
        Set<HeldRow> locked = query(
                connection,
                in(lock, seqs.size()),
                binder -> {
                    bindNumbers(binder, seqs);
                    for (UUID token : padded(tokens)) {
                        binder.uuid(token);
                    }
                },
                this::heldRows);
        locked.retainAll(new HashSet<>(rows));
        return locked;
    }

    private static List<Long> numbers(Set<HeldRow> rows) {
        return rows.stream().map(HeldRow::seq).sorted().toList();
    }

    @Override
    Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        return query(
                connection,
                in(LockingSql.PRESENT, seqs.size()),
                binder -> bindNumbers(binder, seqs),
                this::numbersWithIds);
    }

    // Housekeeping

    @Override
    int sweep(Connection connection, int topicId, int maxAttempts, Epitaph epitaph, int limit) throws SQLException {
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
    Map<Integer, Long> nextDue(Connection connection, Map<Integer, Instant> from) throws SQLException {
        String one = LockingSql.NEXT_DUE
                .replace("{until pending}", microsUntil("m.available_at"))
                .replace("{until leased}", microsUntil("m.locked_until"));
        String all = String.join(" UNION ALL ", Collections.nCopies(from.size(), one));
        return query(
                connection,
                all,
                binder -> {
                    for (Map.Entry<Integer, Instant> topic : from.entrySet()) {
                        binder.time(topic.getValue()).integer(topic.getKey());
                    }
                },
                rows -> {
                    Map<Integer, Long> due = new HashMap<>();
                    while (rows.next()) {
                        earlier(due, rows, "pending");
                        earlier(due, rows, "leased");
                    }
                    return due;
                });
    }

    static void earlier(Map<Integer, Long> due, ResultSet rows, String column) throws SQLException {
        long micros = rows.getLong(column);
        if (!rows.wasNull()) {
            due.merge(rows.getInt("id"), micros, Math::min);
        }
    }

    @Override
    int purgeArchive(Connection connection, Duration age, int limit) throws SQLException {
        String delete = "DELETE FROM {archive} WHERE delivered_at < " + ago() + " " + oldestFirst("delivered_at, seq");
        return update(connection, delete, binder -> binder.micros(age).integer(limit));
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
    int purgeKeys(Connection connection, Duration age, int limit) throws SQLException {
        List<NewRow.Mark> old = query(
                connection,
                LockingSql.LOCK_OLD_KEYS,
                binder -> binder.micros(age).integer(limit),
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

    // Lists of parameters

    /**
     * Changes rows that were locked a moment ago. Another count means that the table is not what we think, and nothing is
     * changed.
     *
     * @param first binds what comes before the numbers
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

    /** An INSERT of so many rows. */
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
            throw new SQLException("Tried to " + doing + ": expected " + wanted + " rows but met " + met);
        }
    }

    /** The statement for a list of this many values; lists are padded to few lengths, so that statements repeat. */
    static String in(String statement, int count) {
        return statement.replace("{values}", placeholders(count));
    }

    private static String placeholders(int count) {
        return String.join(", ", Collections.nCopies(paddedSize(count), "?"));
    }

    /** The values, and the last one again until the next power of two: an IN list does not mind. */
    private static <T> List<T> padded(Collection<T> values) {
        List<T> padded = new ArrayList<>(values);
        while (padded.size() < paddedSize(values.size())) {
            padded.add(padded.get(padded.size() - 1));
        }
        return padded;
    }

    private static int paddedSize(int count) {
        return count == 0 ? 0 : Integer.highestOneBit(count * 2 - 1);
    }
}
