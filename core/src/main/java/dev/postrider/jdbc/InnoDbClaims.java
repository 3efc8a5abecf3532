package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import dev.postrider.store.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Claims on MySQL, MariaDB and H2: each is a short transaction that locks the rows and leases them by number. In braces: table names,
 * {@code {values}} for a list of parameters, and {@code {tenants}} for a condition.
 */
final class InnoDbClaims implements ClaimStatements {

    /** Reads in index order, so that only returned rows are locked. Rows locked by other workers are skipped. */
    static final String LOCK_DUE = """
            SELECT seq, {payload size} AS bytes FROM {message}
            WHERE state = 'PENDING' AND topic_id = ? AND available_at >= ? AND available_at <= UTC_TIMESTAMP(6){tenants}
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String LOCK_EXPIRED = """
            SELECT seq, {payload size} AS bytes FROM {message}
            WHERE state = 'PROCESSING' AND topic_id = ? AND locked_until < UTC_TIMESTAMP(6)
              AND attempts < ?{tenants}
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String LEASE_DUE = """
            UPDATE {message} FORCE INDEX (PRIMARY)
            SET state = 'PROCESSING', attempts = LEAST(attempts, 2147483646) + 1, lease_token = ?, locked_by = ?,
                locked_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
            WHERE state = 'PENDING' AND seq IN ({values})
            """;

    /** The history comes first: on MySQL and MariaDB a later assignment sees the values of the earlier ones. */
    static final String LEASE_EXPIRED = """
            UPDATE {message} FORCE INDEX (PRIMARY)
            SET failed_attempts = LEFT(CONCAT(DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'), ' ', attempts, ' ', locked_by, ?, COALESCE(failed_attempts, '')), 4000),
                attempts = LEAST(attempts, 2147483646) + 1, crashes = LEAST(crashes, 2147483646) + 1, lease_token = ?, locked_by = ?,
                locked_until = UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    static final String READ = "SELECT * FROM {message} WHERE seq IN ({values})";

    static final String LOCK_CLAIM =
            "SELECT seq FROM {message} WHERE state = 'PROCESSING' AND topic_id = ? AND lease_token = ? FOR UPDATE SKIP LOCKED";

    static final String LOCK_LOST = """
            SELECT seq FROM {message}
            WHERE state = 'PROCESSING' AND topic_id = ? AND locked_until < UTC_TIMESTAMP(6) AND attempts >= ?
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String SWEEP = """
            UPDATE {message} FORCE INDEX (PRIMARY)
            SET failed_attempts = LEFT(CONCAT(DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ'), ' ', attempts, ' ', locked_by, ?, COALESCE(failed_attempts, '')), 4000),
                state = 'DEAD', crashes = LEAST(crashes, 2147483646) + 1, reason = ?, last_error = ?, fingerprint = ?, lease_token = NULL,
                locked_by = NULL, locked_until = NULL, updated_at = UTC_TIMESTAMP(6)
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    /** The time until the next due message and the next lease expiry of one topic. A union of these covers all topics. */
    static final String NEXT_DUE = """
            SELECT t.id,
                   (SELECT TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6), m.available_at) FROM {message} m
                    WHERE m.state = 'PENDING' AND m.topic_id = t.id AND m.available_at >= ?
                    ORDER BY m.available_at LIMIT 1) AS pending,
                   (SELECT MIN(TIMESTAMPDIFF(MICROSECOND, UTC_TIMESTAMP(6),
                       m.locked_until)) FROM {message} m WHERE m.state = 'PROCESSING' AND m.topic_id = t.id) AS leased
            FROM {topic} t WHERE t.id = ? AND NOT t.paused
            """;

    private final SqlRunner sql;

    InnoDbClaims(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public DueClaim claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        List<Long> locked = sql.query(
                connection,
                withTenants(LOCK_DUE, request),
                binder -> bindLock(binder.integer(topicId).time(from), topicId, request),
                rows -> upToBudget(rows, request.maxBytes()));
        return new DueClaim(lease(connection, LEASE_DUE, locked, request, leaseOf(request, token)), null);
    }

    /** Ignores the span: leases have no index of their own, so the statement reads all leased rows in any case. */
    @Override
    public List<ClaimedRow> claimExpired(
            Connection connection, int topicId, ClaimRequest request, UUID token, Duration span) throws SQLException {
        List<Long> locked = sql.query(
                connection,
                withTenants(LOCK_EXPIRED, request),
                binder -> bindLock(binder.integer(topicId).integer(request.maxAttempts()), topicId, request),
                rows -> upToBudget(rows, request.maxBytes()));
        SqlRunner.Bind lease = leaseOf(request, token);
        return lease(
                connection, LEASE_EXPIRED, locked, request, binder -> lease.to(binder.text(AttemptHistory.NODE_LOST)));
    }

    private static String withTenants(String select, ClaimRequest request) {
        int count = request.tenants().size();
        return select.replace("{tenants}", count == 0 ? "" : " AND tenant IN (" + ValueList.placeholders(count) + ")");
    }

    private static void bindLock(Binder binder, int topicId, ClaimRequest request) throws SQLException {
        for (String tenant : ValueList.padded(request.tenants())) {
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

    private static SqlRunner.Bind leaseOf(ClaimRequest request, UUID token) {
        return binder -> binder.uuid(token).text(request.worker()).micros(request.lease());
    }

    private List<ClaimedRow> lease(
            Connection connection, String update, List<Long> seqs, ClaimRequest request, SqlRunner.Bind first)
            throws SQLException {
        if (seqs.isEmpty()) {
            return List.of();
        }
        sql.change(connection, update, seqs, "lease messages", first);
        return sql.query(
                connection,
                ValueList.in(READ, seqs.size()),
                binder -> ValueList.bindNumbers(binder, seqs),
                ClaimedRow.reader(sql, request.topic()));
    }

    @Override
    public int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        Set<Long> held = sql.query(
                connection, LOCK_CLAIM, binder -> binder.integer(topicId).uuid(token), SqlRunner::numbers);
        sql.change(connection, InnoDbOutcomes.RELEASE, held, "release a claim", binder -> {});
        return held.size();
    }

    @Override
    public int sweep(Connection connection, int topicId, Sweep sweep) throws SQLException {
        Set<Long> lost = sql.query(
                connection,
                LOCK_LOST,
                binder -> binder.integer(topicId).integer(sweep.maxAttempts()).integer(sweep.limit()),
                SqlRunner::numbers);
        sql.change(
                connection,
                SWEEP,
                lost,
                "bury lost messages",
                binder -> binder.text(AttemptHistory.NODE_LOST)
                        .text(sweep.epitaph().reason())
                        .text(sweep.epitaph().error())
                        .text(sweep.epitaph().fingerprint()));
        return lost.size();
    }

    @Override
    public Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException {
        String all = String.join(" UNION ALL ", Collections.nCopies(peeks.size(), NEXT_DUE));
        return sql.query(
                connection,
                all,
                binder -> {
                    for (Map.Entry<Integer, Peek> topic : peeks.entrySet()) {
                        binder.time(topic.getValue().from()).integer(topic.getKey());
                    }
                },
                Prospect::byTopic);
    }
}
