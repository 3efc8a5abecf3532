package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.Claim;
import dev.postrider.store.TableOptions;
import java.nio.ByteBuffer;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Outcomes of lanes on PostgreSQL: each statement begins with the fence. */
final class PostgresLaneOutcomes implements LaneOutcomeStatements {

    /**
     * The fence, with which every outcome begins. A lane that was taken over or changed by an operator does not match, and then the
     * outcome changes no row. Takeovers and operators lock the lane FOR UPDATE, which conflicts with the fence; a renewal does not
     * conflict. The fence skips a locked lane, so that the lane delays no outcome of another one; its outcomes are written later.
     * While the fence has the lane locked, the statement waits for no message: locked rows are skipped.
     *
     * <p>The conditions on the fence and on the pairs of number and id use {@code IN … IS TRUE}. This form is not a join but a lookup
     * in a hashed list, once for each row from the index, regardless of the planner's estimate of the list length. With joins, the
     * planner estimated one row and compared each of 500 rows with each of 500.
     */
    static final String FENCE = """
            WITH fence AS MATERIALIZED (
                SELECT l.topic_id, l.lane
                FROM unnest(?::int[], ?::smallint[], ?::uuid[], ?::int[]) AS mine (topic_id, lane, token, revision)
                JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane
                             AND l.token = mine.token AND l.revision = mine.revision
                ORDER BY l.topic_id, l.lane
                FOR KEY SHARE OF l SKIP LOCKED
            ),
            """;

    static final String FREE = """
            free AS MATERIALIZED (
                SELECT m.ctid AS place, m.seq
                FROM {message} AS m
                WHERE m.seq = ANY (?::bigint[]) AND ((m.seq, m.id) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[]))) IS TRUE
                  AND ((m.topic_id, m.lane) IN (SELECT topic_id, lane FROM fence)) IS TRUE
                FOR UPDATE SKIP LOCKED
            ),
            """;

    static final String DELETED = FREE + """
            finished AS (
                DELETE FROM {message} AS m WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
                RETURNING m.*
            )
            """;

    static final String ARCHIVED = """
            , archived AS (
                INSERT INTO {archive} (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                       attributes, attempts, crashes, created_at, delivered_at, failed_attempts)
                SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, attributes, attempts + 1, crashes, created_at, statement_timestamp(),
                       failed_attempts
                FROM finished
            )
            """;

    static final String COUNTED = """
            SELECT count(*) AS met, array_agg(seq) AS seqs, (SELECT pg_current_xact_id()::text::bigint) AS transaction FROM finished
            """;

    /**
     * Finds the rows of an acknowledgement in the usual case: every lane is still owned, every row is there, has its id, and is not
     * locked. Otherwise the acknowledgement changes nothing. The ids of all rows are compared at once, as one sequence of bytes. A list
     * of pairs as in {@link #FREE} costs the server a third of a deletion.
     */
    static final String ALL_FREE = """
            free AS MATERIALIZED (
                SELECT m.ctid AS place, uuid_send(m.id) AS id
                FROM {message} AS m
                WHERE m.seq = ANY (?::bigint[]) AND (SELECT count(*) FROM fence) = ?
                ORDER BY m.seq
                FOR UPDATE SKIP LOCKED
            ), met AS MATERIALIZED (
                SELECT array_agg(place) AS places, string_agg(id, '') AS ids FROM free
            ),
            """;

    /**
     * The count is the answer. The list is needed only if another session has changed a row after the statement began: such a row is
     * found and not removed, and counts as locked.
     */
    static final String ALL_COUNTED = """
            SELECT count(*) AS met, CASE WHEN count(*) < ? THEN (SELECT array_agg(seq) FROM finished) END AS seqs,
                   (SELECT pg_current_xact_id()::text::bigint) AS transaction
            FROM finished
            """;

    /** Returns only the number, because the server keeps the returned rows until the statement ends. */
    static final String DELETE_ALL = FENCE + ALL_FREE + """
            finished AS (
                DELETE FROM {message} AS m WHERE m.ctid = ANY ((SELECT places FROM met WHERE ids = ?)::tid[])
                RETURNING m.seq
            )
            """ + ALL_COUNTED;

    static final String ARCHIVE_ALL = FENCE + ALL_FREE + """
            finished AS (
                DELETE FROM {message} AS m WHERE m.ctid = ANY ((SELECT places FROM met WHERE ids = ?)::tid[])
                RETURNING m.*
            )
            """ + ARCHIVED + ALL_COUNTED;

    /** As {@link #DELETE_ALL}, for the rows that are free in the lanes that are still owned. */
    static final String DELETE = FENCE + FREE + """
            finished AS (
                DELETE FROM {message} AS m WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
                RETURNING m.seq
            )
            """ + COUNTED;

    static final String ARCHIVE = FENCE + DELETED + ARCHIVED + COUNTED;

    /**
     * Makes the lowest remaining message of each blocked key its head, due now. The rows that this statement finished are still visible
     * to it and are excluded. If a handler or another transaction has locked the next message, that message stays unchanged and the
     * result names it.
     */
    static final String PROMOTE = """
            , keys AS (
                SELECT DISTINCT topic_id, lane, tenant, ordering_key FROM finished
            ), heads AS MATERIALIZED (
                SELECT keys.*, head.seq, head.state
                FROM keys CROSS JOIN LATERAL (
                    SELECT seq, state FROM {message} AS w
                    WHERE w.topic_id = keys.topic_id AND w.lane = keys.lane AND w.ordering_key = keys.ordering_key
                      AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM keys.tenant
                      AND w.seq NOT IN (SELECT seq FROM finished)
                    ORDER BY w.seq LIMIT 1
                ) AS head
            ), unlocked AS MATERIALIZED (
                SELECT ctid AS place, seq FROM {message}
                WHERE seq = ANY (ARRAY(SELECT seq FROM heads WHERE state = 'BLOCKED')) AND state = 'BLOCKED'
                FOR UPDATE SKIP LOCKED
            ), promoted AS (
                UPDATE {message} AS m SET state = 'RETRY', available_at = clock_timestamp(), updated_at = clock_timestamp()
                WHERE m.ctid = ANY (ARRAY(SELECT place FROM unlocked))
            )
            SELECT f.seq, heads.seq IS NOT NULL AS key_held, (SELECT pg_current_xact_id()::text::bigint) AS transaction,
                   CASE WHEN heads.state = 'BLOCKED' AND heads.seq NOT IN (SELECT seq FROM unlocked) THEN heads.seq END AS locked_head
            FROM finished AS f
            LEFT JOIN heads ON heads.topic_id = f.topic_id AND heads.lane = f.lane AND heads.ordering_key = f.ordering_key
                           AND heads.tenant IS NOT DISTINCT FROM f.tenant
            """;

    static final String DELETE_WAITING = FENCE + DELETED + PROMOTE;

    static final String ARCHIVE_WAITING = FENCE + DELETED + ARCHIVED + PROMOTE;

    static final String MOVED = """
            free AS MATERIALIZED (
                SELECT m.ctid AS place
                FROM {message} AS m
                WHERE m.seq = ANY (?::bigint[]) AND m.state = ANY (?::text[])
                  AND ((m.topic_id, m.lane) IN (SELECT topic_id, lane FROM fence)) IS TRUE
                FOR UPDATE SKIP LOCKED
            ),
            finished AS (
                UPDATE {message} AS m
                SET state = t.state, attempts = t.attempts, last_error = t.error, reason = t.reason, fingerprint = t.fingerprint,
                    failed_attempts = left(concat(to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                                  t.attempt, m.failed_attempts), 4000),
                    available_at = coalesce(clock_timestamp() + t.delay * interval '1 microsecond', '9999-12-31 00:00:00+00'),
                    updated_at = clock_timestamp()
                FROM unnest(?::bigint[], ?::uuid[], ?::text[], ?::int[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[])
                         AS t (seq, id, state, attempts, delay, error, reason, fingerprint, attempt)
                WHERE m.ctid = ANY (ARRAY(SELECT place FROM free)) AND m.seq = t.seq AND m.id = t.id
                RETURNING m.*
            )
            """;

    static final String MOVE = FENCE + MOVED + """
            SELECT seq, state IN ('RETRY', 'PARKED') AS key_held, (SELECT pg_current_xact_id()::text::bigint) AS transaction,
                   NULL::bigint AS locked_head
            FROM finished
            """;

    static final String MOVE_OUT = FENCE + MOVED + PROMOTE;

    /** The rows of a key join in the order of their numbers: a row joins only if all lower rows of its key in this write are free. */
    static final String BLOCK = FENCE + FREE + """
            joining AS MATERIALIZED (
                SELECT seq FROM (
                    SELECT seq, bool_and((seq IN (SELECT seq FROM free)) IS TRUE) OVER (PARTITION BY key ORDER BY seq) AS unbroken
                    FROM unnest(?::bigint[], ?::int[]) AS wanted (seq, key)
                ) AS in_order
                WHERE unbroken
            ),
            finished AS (
                UPDATE {message} AS m
                SET state = CASE WHEN EXISTS (
                                SELECT FROM {message} AS w
                                WHERE w.topic_id = m.topic_id AND w.lane = m.lane AND w.ordering_key = m.ordering_key
                                  AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM m.tenant
                                  AND w.seq < m.seq)
                            THEN 'BLOCKED' ELSE 'RETRY' END,
                    available_at = clock_timestamp(), updated_at = clock_timestamp()
                WHERE m.ctid = ANY (ARRAY(SELECT place FROM free WHERE (seq IN (SELECT seq FROM joining)) IS TRUE)) AND m.state = 'PENDING'
                RETURNING m.seq, m.state
            )
            SELECT seq, state = 'BLOCKED' AS key_held, (SELECT pg_current_xact_id()::text::bigint) AS transaction,
                   NULL::bigint AS locked_head
            FROM finished
            """;

    private static final Comparator<Claim> BY_NUMBER = Comparator.comparingLong(Claim::seq);

    private final SqlRunner sql;

    PostgresLaneOutcomes(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            List<Claim> delivered,
            boolean waiting,
            TableOptions.Archive archive)
            throws SQLException {
        boolean archives = archive != TableOptions.Archive.OFF;
        boolean withPayload = archive == TableOptions.Archive.FULL;
        if (waiting) {
            return written(connection, archives ? ARCHIVE_WAITING : DELETE_WAITING, binder -> {
                rows(fence(binder, fence), delivered);
                withPayload(binder, archives, withPayload);
            });
        }
        List<Claim> inOrder = delivered.stream().sorted(BY_NUMBER).toList();
        Written all = sql.query(
                connection,
                archives ? ARCHIVE_ALL : DELETE_ALL,
                binder -> {
                    fence(binder, fence)
                            .array("int8", PostgresLanes.column(inOrder, Claim::seq))
                            .integer(fence.size())
                            .bytes(ids(inOrder));
                    withPayload(binder, archives, withPayload).integer(inOrder.size());
                },
                answer -> acknowledged(answer, inOrder.size()));
        return all.isEmpty() ? acknowledgeFree(connection, fence, inOrder, archive) : all;
    }

    private Written acknowledgeFree(
            Connection connection, Collection<LaneCursor> fence, List<Claim> delivered, TableOptions.Archive archive)
            throws SQLException {
        boolean archives = archive != TableOptions.Archive.OFF;
        return sql.query(
                connection,
                archives ? ARCHIVE : DELETE,
                binder -> withPayload(
                        rows(fence(binder, fence), delivered), archives, archive == TableOptions.Archive.FULL),
                answer -> acknowledged(answer, delivered.size()));
    }

    private static Binder withPayload(Binder binder, boolean archives, boolean withPayload) throws SQLException {
        return archives ? binder.flag(withPayload) : binder;
    }

    /** Returns the ids as {@link #ALL_FREE} compares them. */
    private static byte[] ids(List<Claim> claims) {
        ByteBuffer ids = ByteBuffer.allocate(claims.size() * 2 * Long.BYTES);
        for (Claim claim : claims) {
            UUID id = claim.message().id().value();
            ids.putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        }
        return ids.array();
    }

    /** Reads the result of an acknowledgement. The count is enough in the usual case that all rows were removed. */
    private static Written acknowledged(ResultSet answer, int sent) throws SQLException {
        answer.next();
        long transaction = answer.getLong("transaction");
        if (answer.getInt("met") == sent) {
            return Written.all(transaction);
        }
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        Array seqs = answer.getArray("seqs");
        if (seqs != null) {
            for (Long seq : (Long[]) seqs.getArray()) {
                keyBlocked.put(seq, false);
            }
        }
        return new Written(keyBlocked, transaction);
    }

    @Override
    public Written move(Connection connection, Collection<LaneCursor> fence, List<Move> rows, Leaving leaving)
            throws SQLException {
        return written(
                connection,
                leaving == Leaving.THEIR_KEY ? MOVE_OUT : MOVE,
                binder -> fence(binder, fence)
                        .array("int8", PostgresLanes.column(rows, Move::seq))
                        .array("text", PostgresLanes.column(leaving.states(), RowState::name))
                        .array("int8", PostgresLanes.column(rows, Move::seq))
                        .array("uuid", PostgresLanes.column(rows, Move::id))
                        .array(
                                "text",
                                PostgresLanes.column(rows, row -> row.state().name()))
                        .array("int4", PostgresLanes.column(rows, Move::attempts))
                        .array(
                                "int8",
                                PostgresLanes.column(
                                        rows, row -> row.delay() == null ? null : Binder.toMicros(row.delay())))
                        .array("text", PostgresLanes.column(rows, Move::error))
                        .array("text", PostgresLanes.column(rows, Move::reason))
                        .array("text", PostgresLanes.column(rows, Move::fingerprint))
                        .array("text", PostgresLanes.column(rows, Move::attempt)));
    }

    @Override
    public Written block(Connection connection, Collection<LaneCursor> fence, List<Claim> claims) throws SQLException {
        return written(
                connection,
                BLOCK,
                binder -> rows(fence(binder, fence), claims)
                        .array("int8", PostgresLanes.column(claims, Claim::seq))
                        .array("int4", LaneOutcomeStatements.keyNumbers(claims).toArray()));
    }

    private static Binder fence(Binder binder, Collection<LaneCursor> fence) throws SQLException {
        return PostgresLanes.lanes(binder, fence).array("int4", PostgresLanes.column(fence, LaneCursor::revision));
    }

    private static Binder rows(Binder binder, List<Claim> claims) throws SQLException {
        Object[] seqs = PostgresLanes.column(claims, Claim::seq);
        return binder.array("int8", seqs)
                .array("int8", seqs)
                .array(
                        "uuid",
                        PostgresLanes.column(
                                claims, claim -> claim.message().id().value()));
    }

    private Written written(Connection connection, String statement, SqlRunner.Bind bind) throws SQLException {
        return sql.query(connection, statement, bind, rows -> {
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
}
