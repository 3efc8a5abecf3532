package dev.postrider.jdbc;

import dev.postrider.store.ClaimRequest;
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
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Databases that do not return what they changed: the rows are locked first, under the token, then changed by number, and the
 * counts must agree. Always within one short transaction.
 */
abstract class LockingDialect extends Dialect {

    private static final String INSERT = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, available_at, created_at, updated_at)
            VALUES {rows}
            """;

    private static final String INSERT_ROW =
            "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {greatest}, {now}, {now})";

    /** In the order of the index, so that only what is returned is locked; another worker's rows are passed over. */
    static final String LOCK_DUE = """
            SELECT seq, OCTET_LENGTH(payload) AS bytes FROM {message}
            WHERE state = 'PENDING' AND topic_id = ? AND available_at >= ? AND available_at <= {now}{tenants}
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    private static final String LOCK_EXPIRED = """
            SELECT seq, OCTET_LENGTH(payload) AS bytes FROM {message}
            WHERE state = 'PROCESSING' AND topic_id = ? AND locked_until < {now}
              AND attempts < ?{tenants}
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    private static final String LEASE_DUE = """
            UPDATE {message}
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?, locked_by = ?, locked_until = {later},
                updated_at = {now}
            WHERE state = 'PENDING' AND seq IN ({values})
            """;

    private static final String LEASE_EXPIRED = """
            UPDATE {message}
            SET attempts = attempts + 1, crashes = crashes + 1, lease_token = ?, locked_by = ?, locked_until = {later},
                updated_at = {now}
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    private static final String READ = "SELECT * FROM {message} WHERE seq IN ({values})";

    private static final String LOCK_HELD =
            "SELECT seq FROM {message} WHERE seq IN ({values}) AND lease_token = ? AND state = 'PROCESSING' FOR UPDATE";

    private static final String LOCK_CLAIM =
            "SELECT seq FROM {message} WHERE state = 'PROCESSING' AND topic_id = ? AND lease_token = ? FOR UPDATE";

    private static final String COPY = """
            INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                   payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                   occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
            SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                   CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                   occurred_at, deliver_at, attempts, crashes, created_at, {now}
            FROM {message} WHERE seq IN ({values})
            """;

    private static final String DELETE = "DELETE FROM {message} WHERE seq IN ({values})";

    private static final String RESCHEDULE = """
            UPDATE {message}
            SET state = 'PENDING', available_at = {later}, last_error = ?, lease_token = NULL, locked_by = NULL,
                locked_until = NULL, updated_at = {now}
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    private static final String BURY = """
            UPDATE {message}
            SET state = 'DEAD', reason = ?, last_error = ?, fingerprint = ?, lease_token = NULL, locked_by = NULL,
                locked_until = NULL, updated_at = {now}
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    private static final String RELEASE = """
            UPDATE {message}
            SET state = 'PENDING', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END, available_at = {now},
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = {now}
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    private static final String EXTEND =
            "UPDATE {message} SET locked_until = {later} WHERE state = 'PROCESSING' AND seq IN ({values})";

    private static final String LOCK_LOST = """
            SELECT seq FROM {message}
            WHERE state = 'PROCESSING' AND topic_id = ? AND locked_until < {now} AND attempts >= ?
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    private static final String SWEEP = """
            UPDATE {message}
            SET state = 'DEAD', crashes = crashes + 1, reason = ?, last_error = ?, fingerprint = ?, lease_token = NULL,
                locked_by = NULL, locked_until = NULL, updated_at = {now}
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    private static final String LOCK_OLD_DEAD =
            "SELECT seq FROM {message} WHERE state = 'DEAD' AND updated_at < {ago} LIMIT ? FOR UPDATE SKIP LOCKED";

    private static final String LOCK_OLD_KEYS = """
            SELECT topic_id, key_hash FROM {dedup} d
            WHERE seen_at < {ago} AND NOT EXISTS (SELECT 1 FROM {message} m WHERE m.id = d.message_id)
            ORDER BY seen_at LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    LockingDialect(Tables tables) {
        super(tables);
    }

    /** One parameter of microseconds before now. */
    abstract String ago();

    /** Microseconds from now to the given expression, negative when it is past. */
    abstract String microsUntil(String time);

    /** Inserts marks, leaving out those that are taken; in the given order, which is the same for everyone. */
    abstract void insertMarks(Connection connection, List<NewRow> rows) throws SQLException;

    /** What makes a DELETE take so many rows, the oldest first where that can be said. */
    abstract String oldestFirst(String columns);

    /** What is added to a SELECT so that it reads the newest committed rows, also in a transaction with an older snapshot. */
    abstract String lockingRead();

    @Override
    Set<UUID> insert(Connection connection, List<NewRow> rows) throws SQLException {
        List<NewRow> keyed = rows.stream().filter(row -> row.mark() != null).toList();
        if (keyed.isEmpty()) {
            return insertMessages(connection, rows);
        }
        // A mark without its message would swallow the event for ever: both or neither.
        Savepoint savepoint = connection.setSavepoint();
        try {
            insertMarks(connection, inMarkOrder(keyed));
            Map<NewRow.Mark, FirstUse> first = firstUses(connection, marks(keyed));
            List<NewRow> fresh =
                    rows.stream().filter(row -> isFirst(row, first)).toList();
            Set<UUID> inserted = fresh.isEmpty() ? Set.of() : insertMessages(connection, fresh);
            connection.releaseSavepoint(savepoint);
            return inserted;
        } catch (SQLException | RuntimeException e) {
            rollbackTo(connection, savepoint, e);
            throw e;
        }
    }

    private static boolean isFirst(NewRow row, Map<NewRow.Mark, FirstUse> first) {
        if (row.mark() == null) {
            return true;
        }
        FirstUse use = first.get(row.mark());
        return use != null && use.id().equals(row.message().id());
    }

    private static List<NewRow> inMarkOrder(List<NewRow> keyed) {
        List<NewRow> sorted = new ArrayList<>(keyed);
        sorted.sort((a, b) -> markOf(a).compareTo(markOf(b)));
        return sorted;
    }

    static NewRow.Mark markOf(NewRow row) {
        NewRow.Mark mark = row.mark();
        if (mark == null) {
            throw new IllegalStateException("only keyed rows come here");
        }
        return mark;
    }

    private static Collection<NewRow.Mark> marks(List<NewRow> keyed) {
        return new TreeSet<>(keyed.stream().map(LockingDialect::markOf).toList());
    }

    private static void rollbackTo(Connection connection, Savepoint savepoint, Exception reason) {
        try {
            connection.rollback(savepoint);
        } catch (SQLException e) {
            reason.addSuppressed(e); // after a deadlock the whole transaction is gone, and the savepoint with it
        }
    }

    /** An id that is there already is left out and the rest tried again; the failed statement itself left nothing behind. */
    private Set<UUID> insertMessages(Connection connection, List<NewRow> rows) throws SQLException {
        List<NewRow> remaining = distinct(rows);
        for (int attempt = 0; !remaining.isEmpty(); attempt++) {
            try {
                insertRows(connection, remaining);
                return ids(remaining);
            } catch (SQLException e) {
                if (!SqlErrors.isDuplicateKey(e) || attempt > 2) {
                    throw e;
                }
                Set<UUID> taken = liveIds(connection, ids(remaining));
                remaining = remaining.stream()
                        .filter(row -> !taken.contains(row.message().id().value()))
                        .toList();
            }
        }
        return Set.of();
    }

    private static List<NewRow> distinct(List<NewRow> rows) {
        Set<UUID> seen = new HashSet<>();
        return rows.stream().filter(row -> seen.add(row.message().id().value())).toList();
    }

    private static Set<UUID> ids(List<NewRow> rows) {
        Set<UUID> ids = new HashSet<>();
        rows.forEach(row -> ids.add(row.message().id().value()));
        return ids;
    }

    private void insertRows(Connection connection, List<NewRow> rows) throws SQLException {
        String values = String.join(", ", Collections.nCopies(rows.size(), INSERT_ROW));
        String statementText = INSERT.replace("{rows}", values).replace("{greatest}", greatest());
        try (PreparedStatement statement = connection.prepareStatement(sqlOnce(statementText))) {
            Binder binder = bind(statement);
            for (NewRow row : rows) {
                binder.message(row.message(), row.topicId()).time(row.message().deliverAt());
            }
            expect(rows.size(), statement.executeUpdate(), "insert messages");
        }
    }

    /** Of one parameter, which may be null, and now, the later. */
    private String greatest() {
        return "GREATEST(COALESCE(" + timeParameter() + ", {now}), {now})";
    }

    /** A parameter that may be a null time; some databases want to be told its type. */
    String timeParameter() {
        return "?";
    }

    private Set<UUID> liveIds(Connection connection, Set<UUID> ids) throws SQLException {
        String query = in("SELECT id FROM {message} WHERE id IN ({values})" + lockingRead(), ids.size());
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            Binder binder = bind(statement);
            for (UUID id : padded(ids)) {
                binder.uuid(id);
            }
            Set<UUID> live = new HashSet<>();
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    live.add(readUuid(answer, "id"));
                }
            }
            return live;
        }
    }

    @Override
    Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks) throws SQLException {
        Map<NewRow.Mark, FirstUse> found = new HashMap<>();
        for (Map.Entry<Integer, List<NewRow.Mark>> topic : byTopic(marks).entrySet()) {
            String query = "SELECT * FROM {dedup} WHERE topic_id = ? AND key_hash IN ({values})" + lockingRead();
            found.putAll(withMarks(connection, query, topic, statement -> FirstUses.read(statement, this)));
        }
        return found;
    }

    @Override
    boolean claimsInOneStatement() {
        return false;
    }

    @Override
    List<ClaimedRow> claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        String query = withTenants(LOCK_DUE, request);
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            Binder binder = bind(statement).integer(topicId).time(from);
            List<Long> locked = lock(statement, binder, topicId, request);
            return lease(connection, LEASE_DUE, locked, request, token);
        }
    }

    @Override
    List<ClaimedRow> claimExpired(Connection connection, int topicId, ClaimRequest request, UUID token)
            throws SQLException {
        String query = withTenants(LOCK_EXPIRED, request);
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            Binder binder = bind(statement).integer(topicId).integer(request.maxAttempts());
            List<Long> locked = lock(statement, binder, topicId, request);
            return lease(connection, LEASE_EXPIRED, locked, request, token);
        }
    }

    private String withTenants(String query, ClaimRequest request) {
        int count = request.tenants().size();
        return count == 0
                ? sql(query.replace("{tenants}", ""))
                : sql(query.replace("{tenants}", " AND tenant IN (" + placeholders(count) + ")"));
    }

    private List<Long> lock(PreparedStatement statement, Binder binder, int topicId, ClaimRequest request)
            throws SQLException {
        if (!request.tenants().isEmpty()) {
            for (String tenant : padded(request.tenants())) {
                binder.text(tenant);
            }
        }
        binder.integer(topicId).integer(request.limit());
        List<Long> seqs = new ArrayList<>();
        long bytes = 0;
        try (ResultSet row = statement.executeQuery()) {
            while (row.next() && bytes < request.maxBytes()) {
                seqs.add(row.getLong(1));
                bytes += row.getLong(2);
            }
        }
        return seqs;
    }

    private List<ClaimedRow> lease(
            Connection connection, String update, List<Long> seqs, ClaimRequest request, UUID token)
            throws SQLException {
        if (seqs.isEmpty()) {
            return List.of();
        }
        try (PreparedStatement statement = connection.prepareStatement(in(update, seqs.size()))) {
            Binder binder = bind(statement).uuid(token).text(request.worker()).micros(request.lease());
            expect(seqs.size(), numbers(binder, seqs, statement), "lease messages");
        }
        List<ClaimedRow> rows = new ArrayList<>(seqs.size());
        try (PreparedStatement statement = connection.prepareStatement(in(READ, seqs.size()))) {
            bindNumbers(bind(statement), seqs);
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    rows.add(ClaimedRow.read(answer, this));
                }
            }
        }
        rows.sort(ClaimedRow.BY_DUE_TIME);
        return rows;
    }

    @Override
    Set<Long> acknowledge(Connection connection, UUID token, Collection<Long> seqs, JdbcOptions.Archive archive)
            throws SQLException {
        Set<Long> held = lockHeld(connection, token, seqs);
        if (held.isEmpty()) {
            return held;
        }
        if (archive != JdbcOptions.Archive.OFF) {
            try (PreparedStatement statement = connection.prepareStatement(in(COPY, held.size()))) {
                Binder binder = bind(statement).flag(archive == JdbcOptions.Archive.FULL);
                expect(held.size(), numbers(binder, held, statement), "archive messages");
            }
        }
        change(connection, DELETE, held, "delete delivered messages");
        return held;
    }

    @Override
    Set<Long> reschedule(Connection connection, UUID token, List<Rescheduled> rows) throws SQLException {
        Set<Long> changed = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql(RESCHEDULE))) {
            for (Rescheduled row : rows) {
                bind(statement)
                        .micros(row.delay())
                        .text(row.error())
                        .number(row.seq())
                        .uuid(token);
                if (statement.executeUpdate() == 1) {
                    changed.add(row.seq());
                }
            }
        }
        return changed;
    }

    @Override
    Set<Long> bury(Connection connection, UUID token, List<BuriedRow> rows) throws SQLException {
        Set<Long> changed = new HashSet<>();
        try (PreparedStatement statement = connection.prepareStatement(sql(BURY))) {
            for (BuriedRow row : rows) {
                bind(statement)
                        .text(row.reason())
                        .text(row.error())
                        .text(row.fingerprint())
                        .number(row.seq())
                        .uuid(token);
                if (statement.executeUpdate() == 1) {
                    changed.add(row.seq());
                }
            }
        }
        return changed;
    }

    @Override
    Set<Long> release(Connection connection, UUID token, Collection<Long> seqs) throws SQLException {
        Set<Long> held = lockHeld(connection, token, seqs);
        change(connection, RELEASE, held, "release messages");
        return held;
    }

    @Override
    int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        Set<Long> held;
        try (PreparedStatement statement = connection.prepareStatement(sql(LOCK_CLAIM))) {
            bind(statement).integer(topicId).uuid(token);
            held = numbersOf(statement);
        }
        change(connection, RELEASE, held, "release a claim");
        return held.size();
    }

    @Override
    Set<Long> extend(Connection connection, UUID token, Collection<Long> seqs, Duration lease) throws SQLException {
        Set<Long> held = lockHeld(connection, token, seqs);
        if (!held.isEmpty()) {
            try (PreparedStatement statement = connection.prepareStatement(in(EXTEND, held.size()))) {
                expect(held.size(), numbers(bind(statement).micros(lease), held, statement), "extend leases");
            }
        }
        return held;
    }

    private Set<Long> lockHeld(Connection connection, UUID token, Collection<Long> seqs) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(in(LOCK_HELD, seqs.size()))) {
            bindNumbers(bind(statement), seqs).uuid(token);
            return numbersOf(statement);
        }
    }

    @Override
    Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        String query = in("SELECT seq, id FROM {message} WHERE seq IN ({values})", seqs.size());
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            bindNumbers(bind(statement), seqs);
            Map<Long, UUID> present = new HashMap<>();
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    present.put(answer.getLong("seq"), readUuid(answer, "id"));
                }
            }
            return present;
        }
    }

    @Override
    int sweep(Connection connection, int topicId, int maxAttempts, BuriedRow epitaph, int limit) throws SQLException {
        Set<Long> lost;
        try (PreparedStatement statement = connection.prepareStatement(sql(LOCK_LOST))) {
            bind(statement).integer(topicId).integer(maxAttempts).integer(limit);
            lost = numbersOf(statement);
        }
        if (!lost.isEmpty()) {
            try (PreparedStatement statement = connection.prepareStatement(in(SWEEP, lost.size()))) {
                Binder binder = bind(statement)
                        .text(epitaph.reason())
                        .text(epitaph.error())
                        .text(epitaph.fingerprint());
                expect(lost.size(), numbers(binder, lost, statement), "bury lost messages");
            }
        }
        return lost.size();
    }

    @Override
    Map<Integer, Long> nextDue(Connection connection, Map<Integer, Instant> from) throws SQLException {
        String one = """
                SELECT t.id, %s AS pending,
                       (SELECT MIN(%s) FROM {message} m WHERE m.state = 'PROCESSING' AND m.topic_id = t.id) AS leased
                FROM {topic} t WHERE t.id = ? AND NOT t.paused
                """.formatted(
                        "(SELECT " + microsUntil("m.available_at")
                                + " FROM {message} m WHERE m.state = 'PENDING' AND m.topic_id = t.id AND m.available_at >= ?"
                                + " ORDER BY m.available_at LIMIT 1)",
                        microsUntil("m.locked_until"));
        String query = String.join(" UNION ALL ", Collections.nCopies(from.size(), one));
        try (PreparedStatement statement = connection.prepareStatement(sql(query))) {
            Binder binder = bind(statement);
            for (Map.Entry<Integer, Instant> topic : from.entrySet()) {
                binder.time(topic.getValue()).integer(topic.getKey());
            }
            Map<Integer, Long> due = new HashMap<>();
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    earlier(due, answer, "pending");
                    earlier(due, answer, "leased");
                }
            }
            return due;
        }
    }

    private static void earlier(Map<Integer, Long> due, ResultSet answer, String column) throws SQLException {
        long micros = answer.getLong(column);
        if (!answer.wasNull()) {
            due.merge(answer.getInt("id"), micros, Math::min);
        }
    }

    @Override
    int purgeArchive(Connection connection, Duration age, int limit) throws SQLException {
        String delete = "DELETE FROM {archive} WHERE delivered_at < {ago} " + oldestFirst("delivered_at, seq");
        try (PreparedStatement statement = connection.prepareStatement(sqlAgo(delete))) {
            bind(statement).micros(age).integer(limit);
            return statement.executeUpdate();
        }
    }

    @Override
    int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        Set<Long> old;
        try (PreparedStatement statement = connection.prepareStatement(sqlAgo(LOCK_OLD_DEAD))) {
            bind(statement).micros(age).integer(limit);
            old = numbersOf(statement);
        }
        change(
                connection,
                "DELETE FROM {message} WHERE state = 'DEAD' AND seq IN ({values})",
                old,
                "purge dead letters");
        return old.size();
    }

    @Override
    int purgeKeys(Connection connection, Duration age, int limit) throws SQLException {
        List<NewRow.Mark> old = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(sqlAgo(LOCK_OLD_KEYS))) {
            bind(statement).micros(age).integer(limit);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    old.add(new NewRow.Mark(row.getInt(1), row.getBytes(2), new byte[0]));
                }
            }
        }
        int removed = 0;
        for (Map.Entry<Integer, List<NewRow.Mark>> topic : byTopic(old).entrySet()) {
            String delete = "DELETE FROM {dedup} WHERE topic_id = ? AND key_hash IN ({values})";
            removed += withMarks(connection, delete, topic, PreparedStatement::executeUpdate);
        }
        return removed;
    }

    private static Map<Integer, List<NewRow.Mark>> byTopic(Collection<NewRow.Mark> marks) {
        return marks.stream().collect(Collectors.groupingBy(mark -> mark.topicId));
    }

    @FunctionalInterface
    private interface Run<T> {
        T on(PreparedStatement statement) throws SQLException;
    }

    /** Runs a statement about one topic's keys: its number is the first parameter, the keys are the list. */
    private <T> T withMarks(
            Connection connection, String statementText, Map.Entry<Integer, List<NewRow.Mark>> topic, Run<T> run)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(in(statementText, topic.getValue().size()))) {
            Binder binder = bind(statement).integer(topic.getKey());
            for (NewRow.Mark mark : padded(topic.getValue())) {
                binder.bytes(mark.keyHash);
            }
            return run.on(statement);
        }
    }

    private void change(Connection connection, String update, Collection<Long> seqs, String doing) throws SQLException {
        if (seqs.isEmpty()) {
            return;
        }
        try (PreparedStatement statement = connection.prepareStatement(in(update, seqs.size()))) {
            expect(seqs.size(), numbers(bind(statement), seqs, statement), doing);
        }
    }

    private static int numbers(Binder binder, Collection<Long> seqs, PreparedStatement statement) throws SQLException {
        bindNumbers(binder, seqs);
        return statement.executeUpdate();
    }

    private static Binder bindNumbers(Binder binder, Collection<Long> seqs) throws SQLException {
        for (Long seq : padded(seqs)) {
            binder.number(seq);
        }
        return binder;
    }

    private static Set<Long> numbersOf(PreparedStatement statement) throws SQLException {
        Set<Long> seqs = new TreeSet<>();
        try (ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                seqs.add(row.getLong(1));
            }
        }
        return seqs;
    }

    private String sqlAgo(String statement) {
        return sql(statement.replace("{ago}", ago()));
    }

    /** For statements whose text depends on the size of a batch: not remembered. */
    private String sqlOnce(String statement) {
        return tables().sql(statement.replace("{now}", now()).replace("{later}", later()));
    }

    /** The statement for a list of this many values; lists are padded to few lengths, so that statements repeat. */
    final String in(String statement, int count) {
        return sql(statement.replace("{values}", placeholders(count)));
    }

    private static String placeholders(int count) {
        return String.join(", ", Collections.nCopies(paddedSize(count), "?"));
    }

    /** The values, and the last one again until the next power of two: an IN list does not mind. */
    static <T> List<T> padded(Collection<T> values) {
        List<T> padded = new ArrayList<>(values);
        T last = padded.get(padded.size() - 1);
        while (padded.size() < paddedSize(values.size())) {
            padded.add(last);
        }
        return padded;
    }

    private static int paddedSize(int count) {
        return Integer.highestOneBit(Math.max(count * 2 - 1, 1));
    }

    /** The rows were locked a moment ago: another count means that the table is not what we think, and nothing is changed. */
    private static void expect(int wanted, int actual, String doing) throws SQLException {
        if (wanted != actual) {
            throw new SQLException("Tried to " + doing + ": expected " + wanted + " rows but met " + actual);
        }
    }
}
