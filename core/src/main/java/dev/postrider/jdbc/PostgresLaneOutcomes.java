package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
                                       attributes, attempts, crashes, created_at, delivered_at)
                SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, attributes, attempts + 1, crashes, created_at, clock_timestamp()
                FROM finished
            )
            """;

    static final String COUNTED = """
            SELECT count(*) AS met, array_agg(seq) AS seqs, (SELECT pg_current_xact_id()::text::bigint) AS transaction FROM finished
            """;

    /** Returns only the number, because the server keeps the returned rows until the statement ends. */
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
                    available_at = coalesce(clock_timestamp() + t.delay * interval '1 microsecond', '9999-12-31 00:00:00+00'),
                    updated_at = clock_timestamp()
                FROM unnest(?::bigint[], ?::uuid[], ?::text[], ?::int[], ?::bigint[], ?::text[], ?::text[], ?::text[])
                         AS t (seq, id, state, attempts, delay, error, reason, fingerprint)
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

    private final SqlRunner sql;

    PostgresLaneOutcomes(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Written acknowledge(
            Connection connection,
            Collection<LaneCursor> fence,
            Map<Long, UUID> rows,
            boolean waiting,
            TableOptions.Archive archive)
            throws SQLException {
        boolean withPayload = archive == TableOptions.Archive.FULL;
        SqlRunner.Bind bind = archive == TableOptions.Archive.OFF
                ? binder -> rows(fence(binder, fence), rows)
                : binder -> rows(fence(binder, fence), rows).flag(withPayload);
        if (waiting) {
            String statement = archive == TableOptions.Archive.OFF ? DELETE_WAITING : ARCHIVE_WAITING;
            return written(connection, statement, bind);
        }
        String statement = archive == TableOptions.Archive.OFF ? DELETE : ARCHIVE;
        return sql.query(connection, statement, bind, answer -> acknowledged(answer, rows.keySet()));
    }

    /** Reads the result of an acknowledgement. The count is enough in the usual case that all rows were removed. */
    private static Written acknowledged(ResultSet answer, Set<Long> sent) throws SQLException {
        answer.next();
        Map<Long, Boolean> keyBlocked = new HashMap<>();
        if (answer.getInt("met") == sent.size()) {
            sent.forEach(seq -> keyBlocked.put(seq, false));
        } else if (answer.getArray("seqs") != null) {
            for (Long seq : (Long[]) answer.getArray("seqs").getArray()) {
                keyBlocked.put(seq, false);
            }
        }
        return new Written(keyBlocked, Map.of(), answer.getLong("transaction"));
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
                        .array("text", PostgresLanes.column(rows, Move::fingerprint)));
    }

    @Override
    public Written block(Connection connection, Collection<LaneCursor> fence, List<Joining> rows) throws SQLException {
        Map<Long, UUID> ids = new LinkedHashMap<>();
        rows.forEach(row -> ids.put(row.seq(), row.id()));
        return written(
                connection,
                BLOCK,
                binder -> rows(fence(binder, fence), ids)
                        .array("int8", PostgresLanes.column(rows, Joining::seq))
                        .array("int4", PostgresLanes.column(rows, Joining::key)));
    }

    private static Binder fence(Binder binder, Collection<LaneCursor> fence) throws SQLException {
        return PostgresLanes.lanes(binder, fence).array("int4", PostgresLanes.column(fence, LaneCursor::revision));
    }

    private static Binder rows(Binder binder, Map<Long, UUID> rows) throws SQLException {
        Object[] seqs = rows.keySet().toArray();
        return binder.array("int8", seqs)
                .array("int8", seqs)
                .array("uuid", rows.values().toArray());
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
