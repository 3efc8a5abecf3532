package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.message.TopicName;
import dev.postrider.store.ClaimRequest;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Claims on PostgreSQL: one statement selects, locks and leases the rows, and returns them. */
final class PostgresClaims implements ClaimStatements {

    /**
     * Claims due messages. The rows are locked in a materialized CTE, so that the limit is applied once. The window then stops at the
     * byte budget. The rows are updated by ctid, which does not change while a row is locked. With a join by number, a planner that
     * estimates an empty queue would read the whole index (docs/decisions/0011). statement_timestamp() is stable, so it bounds the index
     * scan. clock_timestamp() gives the lease its full length. The last columns show from which time on a message can still appear
     * ({@link DueScanStart.Snapshot}).
     */
    static final String CLAIM_DUE = """
            WITH due AS MATERIALIZED (
                SELECT ctid AS place, seq, available_at, {payload size} AS bytes
                FROM {message}
                WHERE topic_id = ? AND state = 'PENDING' AND lane IS NULL
                  AND available_at >= ? AND available_at <= statement_timestamp()
                  AND (?::text[] IS NULL OR tenant = ANY (?::text[]))
                  AND NOT EXISTS (SELECT FROM {topic} WHERE id = ? AND paused)
                ORDER BY available_at, seq
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), fitting AS MATERIALIZED (
                SELECT place FROM (SELECT place, sum(bytes) OVER (ORDER BY available_at, seq) - bytes AS before FROM due) AS running
                WHERE before < ?
            )
            UPDATE {message} AS m
            SET state = 'PROCESSING', attempts = least(attempts, 2147483646) + 1, lease_token = ?, locked_by = ?,
                locked_until = clock_timestamp() + ? * interval '1 microsecond'
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM fitting))
            RETURNING m.seq, m.id, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.content_type, m.payload, m.attributes,
                      m.attempts, m.crashes, m.available_at, m.created_at, statement_timestamp() AS looked_at,
                      (SELECT pg_current_xact_id()::text::bigint) AS transaction,
                      (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint) AS finished_before
            """;

    static final String CLAIM_EXPIRED = """
            WITH expired AS MATERIALIZED (
                SELECT ctid AS place, seq, locked_until, {payload size} AS bytes
                FROM {message}
                WHERE topic_id = ? AND state = 'PROCESSING' AND locked_until < statement_timestamp()
                  AND locked_until >= statement_timestamp() - ? * interval '1 microsecond'
                  AND attempts < ? AND (?::text[] IS NULL OR tenant = ANY (?::text[]))
                  AND NOT EXISTS (SELECT FROM {topic} WHERE id = ? AND paused)
                ORDER BY locked_until
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), fitting AS MATERIALIZED (
                SELECT place FROM (SELECT place, sum(bytes) OVER (ORDER BY locked_until, seq) - bytes AS before FROM expired) AS running
                WHERE before < ?
            )
            UPDATE {message} AS m
            SET attempts = least(attempts, 2147483646) + 1, crashes = least(crashes, 2147483646) + 1, lease_token = ?, locked_by = ?,
                locked_until = clock_timestamp() + ? * interval '1 microsecond',
                failed_attempts = left(concat(to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                              ' ', m.attempts, ' ', m.locked_by, ?::text, m.failed_attempts), 4000)
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM fitting))
            RETURNING m.seq, m.id, m.type, m.tenant, m.ordering_key, m.idempotency_key, m.content_type, m.payload, m.attributes,
                      m.attempts, m.crashes, m.available_at, m.created_at
            """;

    static final String RELEASE_CLAIM = """
            WITH mine AS MATERIALIZED (
                SELECT seq FROM {message} WHERE topic_id = ? AND lease_token = ? AND state = 'PROCESSING'
                FOR UPDATE SKIP LOCKED
            )
            UPDATE {message}
            SET state = 'PENDING', attempts = greatest(attempts - 1, 0), available_at = clock_timestamp(),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            WHERE seq = ANY (ARRAY(SELECT seq FROM mine))
            """;

    static final String SWEEP = """
            WITH lost AS MATERIALIZED (
                SELECT ctid AS place FROM {message}
                WHERE topic_id = ? AND state = 'PROCESSING' AND locked_until < statement_timestamp()
                  AND locked_until >= statement_timestamp() - ? * interval '1 microsecond'
                  AND attempts >= ?
                ORDER BY locked_until
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'DEAD', crashes = least(crashes, 2147483646) + 1, reason = ?, last_error = ?, fingerprint = ?,
                failed_attempts = left(concat(to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                              ' ', m.attempts, ' ', m.locked_by, ?::text, m.failed_attempts), 4000),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM lost))
            """;

    /** The next due message of every topic, and the first lease to expire where a span is given, in one statement. */
    static final String NEXT_DUE = """
            SELECT t.id,
                   (extract(epoch FROM (SELECT available_at FROM {message}
                                        WHERE topic_id = t.id AND state = 'PENDING' AND lane IS NULL AND available_at >= look.start
                                        ORDER BY available_at LIMIT 1)
                                       - clock_timestamp()) * 1000000)::bigint AS pending,
                   (extract(epoch FROM (SELECT locked_until FROM {message}
                                        WHERE topic_id = t.id AND state = 'PROCESSING'
                                          AND locked_until >= statement_timestamp() - look.span * interval '1 microsecond'
                                        ORDER BY locked_until LIMIT 1)
                                       - clock_timestamp()) * 1000000)::bigint AS leased
            FROM unnest(?::int[], ?::timestamptz[], ?::bigint[]) AS look (topic_id, start, span)
            JOIN {topic} t ON t.id = look.topic_id
            WHERE NOT t.paused
            """;

    private final SqlRunner sql;

    PostgresClaims(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public DueClaim claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        return sql.query(
                connection,
                CLAIM_DUE,
                binder -> bindClaim(binder.integer(topicId).time(from), topicId, request, token),
                rows -> due(rows, request.topic()));
    }

    private DueClaim due(ResultSet rows, TopicName topic) throws SQLException {
        if (!rows.next()) {
            return new DueClaim(List.of(), null);
        }
        DueScanStart.Snapshot snapshot = new DueScanStart.Snapshot(
                Objects.requireNonNull(sql.readTime(rows, "looked_at")),
                rows.getLong("transaction"),
                rows.getLong("finished_before"));
        return new DueClaim(ClaimedRow.inOrderOn(rows, sql, topic), snapshot);
    }

    @Override
    public List<ClaimedRow> claimExpired(
            Connection connection, int topicId, ClaimRequest request, UUID token, Duration span) throws SQLException {
        return sql.query(
                connection,
                CLAIM_EXPIRED,
                binder -> bindClaim(
                                binder.integer(topicId).micros(span).integer(request.maxAttempts()),
                                topicId,
                                request,
                                token)
                        .text(AttemptHistory.NODE_LOST),
                ClaimedRow.reader(sql, request.topic()));
    }

    /** Binds the last parameters, which both claim statements share. */
    private static Binder bindClaim(Binder binder, int topicId, ClaimRequest request, UUID token) throws SQLException {
        String[] tenants =
                request.tenants().isEmpty() ? null : request.tenants().toArray(String[]::new);
        return binder.array("text", tenants)
                .array("text", tenants)
                .integer(topicId)
                .integer(request.limit())
                .number(request.maxBytes())
                .uuid(token)
                .text(request.worker())
                .micros(request.lease());
    }

    @Override
    public int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        return sql.update(
                connection, RELEASE_CLAIM, binder -> binder.integer(topicId).uuid(token));
    }

    @Override
    public int sweep(Connection connection, int topicId, Sweep sweep) throws SQLException {
        return sql.update(
                connection,
                SWEEP,
                binder -> binder.integer(topicId)
                        .micros(sweep.span())
                        .integer(sweep.maxAttempts())
                        .integer(sweep.limit())
                        .text(sweep.epitaph().reason())
                        .text(sweep.epitaph().error())
                        .text(sweep.epitaph().fingerprint())
                        .text(AttemptHistory.NODE_LOST));
    }

    @Override
    public Map<Integer, Prospect> nextDue(Connection connection, Map<Integer, Peek> peeks) throws SQLException {
        List<Map.Entry<Integer, Peek>> inOrder = List.copyOf(peeks.entrySet());
        return sql.query(
                connection,
                NEXT_DUE,
                binder -> binder.array(
                                "int4", inOrder.stream().map(Map.Entry::getKey).toArray())
                        .array(
                                "timestamptz",
                                inOrder.stream()
                                        .map(peek -> peek.getValue().from().toString())
                                        .toArray())
                        .array(
                                "int8",
                                inOrder.stream()
                                        .map(peek -> micros(peek.getValue().span()))
                                        .toArray()),
                Prospect::byTopic);
    }

    private static @Nullable Long micros(@Nullable Duration span) {
        return span == null ? null : Binder.toMicros(span);
    }
}
