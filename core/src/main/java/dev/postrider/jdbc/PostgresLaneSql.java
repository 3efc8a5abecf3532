package dev.postrider.jdbc;

/**
 * The lane statements of PostgreSQL. Each statement is complete: to run one in a console, replace the braces around a table name by the
 * prefix {@code postrider_}.
 */
final class PostgresLaneSql {

    private PostgresLaneSql() {}

    static final String ACQUIRE = """
            WITH free AS MATERIALIZED (
                SELECT topic_id, lane, owner IS NOT NULL AS crashed, alone, buffer FROM {lane}
                WHERE topic_id = ? AND until < clock_timestamp() - ? * interval '1 microsecond'
                ORDER BY lane
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), numbered AS (
                SELECT *, row_number() OVER (ORDER BY lane) AS place FROM free
            )
            UPDATE {lane} AS l
            SET owner = ?, token = (?::uuid[])[numbered.place], until = clock_timestamp() + ? * interval '1 microsecond', buffer = ?,
                alone = NULL
            FROM numbered
            WHERE l.topic_id = numbered.topic_id AND l.lane = numbered.lane
            RETURNING l.lane, l.token, l.revision, l.floor, numbered.crashed, numbered.alone, numbered.buffer
            """;

    /**
     * Renews lanes. The lock does not conflict with outcomes, which lock the lane FOR KEY SHARE. A lane that an operator or a takeover
     * has locked is not renewed, but the result contains its token. The token of a lost lane is absent. The floor is stored only on the
     * server that it was read from.
     */
    static final String RENEW = """
            WITH mine AS MATERIALIZED (
                SELECT * FROM unnest(?::int[], ?::smallint[], ?::uuid[], ?::bigint[]) AS mine (topic_id, lane, token, floor)
            ), held AS MATERIALIZED (
                SELECT l.topic_id, l.lane, mine.floor
                FROM mine JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
                ORDER BY l.topic_id, l.lane
                FOR NO KEY UPDATE OF l SKIP LOCKED
            ), renewed AS (
                UPDATE {lane} AS l
                SET until = clock_timestamp() + ? * interval '1 microsecond', buffer = ?,
                    floor = CASE WHEN ? = coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time())
                                 THEN greatest(held.floor, l.floor) ELSE l.floor END
                FROM held
                WHERE l.topic_id = held.topic_id AND l.lane = held.lane
                RETURNING l.token, l.floor
            )
            SELECT l.token, renewed.floor, (SELECT pg_current_xact_id()::text::bigint FROM renewed LIMIT 1) AS transaction
            FROM mine JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
            LEFT JOIN renewed ON renewed.token = l.token
            """;

    /** Locks {@code FOR UPDATE}: running outcome statements end before the lane is free. */
    static final String RELEASE = """
            WITH held AS MATERIALIZED (
                SELECT l.topic_id, l.lane, mine.floor
                FROM unnest(?::int[], ?::smallint[], ?::uuid[], ?::bigint[]) AS mine (topic_id, lane, token, floor)
                JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
                WHERE (SELECT set_config('lock_timeout', ?, true)) IS NOT NULL
                ORDER BY l.topic_id, l.lane
                FOR UPDATE OF l
            )
            UPDATE {lane} AS l
            SET owner = NULL, token = NULL, until = clock_timestamp(), buffer = 0, alone = NULL,
                floor = CASE WHEN ? = coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time())
                             THEN greatest(held.floor, l.floor) ELSE l.floor END
            FROM held
            WHERE l.topic_id = held.topic_id AND l.lane = held.lane
            """;

    static final String RELEASE_TOKENS = """
            UPDATE {lane} SET owner = NULL, token = NULL, until = clock_timestamp(), alone = NULL
            WHERE token = ANY (?::uuid[]) AND (SELECT set_config('lock_timeout', ?, true)) IS NOT NULL
            """;

    static final String STANDINGS = """
            SELECT l.token, l.revision, l.floor,
                   coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time()) AS server
            FROM unnest(?::int[], ?::smallint[], ?::uuid[]) AS mine (topic_id, lane, token)
            JOIN {lane} l ON l.topic_id = mine.topic_id AND l.lane = mine.lane AND l.token = mine.token
            """;

    /** The states of rows that an outcome did not change: tells a locked row from a removed one. */
    static final String STATES = "SELECT seq, id, state FROM {message} WHERE seq = ANY (?::bigint[])";

    static final String BLOCKED_KEYS = """
            SELECT DISTINCT lane, tenant, ordering_key FROM {message}
            WHERE topic_id = ? AND lane = ANY (?::smallint[]) AND state IN ('RETRY', 'PARKED')
            """;

    /**
     * Counts a crash against the messages that may have been in flight on the lost owner: the first pending rows of each lane, up to the
     * buffer of the owner, and the due rows. A locked row is skipped: a handler of a live node is processing it, and waiting for it would
     * keep the lane locked.
     */
    static final String SUSPECT_MANY = """
            WITH suspect AS MATERIALIZED (
                SELECT hot.seq
                FROM unnest(?::smallint[], ?::bigint[], ?::int[]) AS lost (lane, floor, buffer)
                CROSS JOIN LATERAL (
                    SELECT seq FROM {message}
                    WHERE topic_id = ? AND lane = lost.lane AND state = 'PENDING' AND lane IS NOT NULL AND seq > lost.floor
                    ORDER BY seq LIMIT lost.buffer
                ) AS hot
                UNION ALL
                SELECT timed.seq
                FROM unnest(?::smallint[], ?::int[]) AS lost (lane, buffer)
                CROSS JOIN LATERAL (
                    SELECT seq FROM {message}
                    WHERE topic_id = ? AND lane = lost.lane AND state IN ('SCHEDULED', 'RETRY')
                      AND available_at <= statement_timestamp()
                    ORDER BY available_at LIMIT lost.buffer
                ) AS timed
            ), free AS MATERIALIZED (
                SELECT ctid AS place FROM {message} WHERE seq = ANY (ARRAY(SELECT seq FROM suspect)) FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} AS m SET crashes = greatest(m.crashes, least(m.crashes + 1, 2))
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
            """;

    static final String SUSPECT_ONE = """
            WITH free AS MATERIALIZED (
                SELECT ctid AS place FROM {message}
                WHERE seq = ANY (?::bigint[]) AND topic_id = ? AND lane IS NOT NULL AND state <> 'DEAD'
                FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} AS m SET crashes = crashes + 1
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
            """;

    static final String SET_ISOLATED = """
            UPDATE {lane} SET alone = ?
            WHERE topic_id = ? AND lane = ? AND token = ? AND (SELECT set_config('lock_timeout', ?, true)) IS NOT NULL
            """;

    /**
     * Reads the next messages of all lanes in one statement, and so in one snapshot: two reads could return the second message of a key
     * before the first. Each lane starts at the number below which all messages are known. The last number is read without a transaction
     * id, and is paired later with an id that is assigned after it. A sequence that was never used already shows its first number, hence
     * the {@code CASE}. A hashed list excludes messages that were read before. The sight is materialized, because otherwise it is
     * evaluated again for every row. The rows of one lane are ordered by number. The caller sorts the rows of all lanes, which is cheaper
     * than a sort in this statement.
     *
     * <p>A payload that is larger than its equal share of the byte budget is returned as null. Then the caller discards the whole result
     * and runs {@link #READ_WITHIN}, which adds up the sizes row by row and takes half as long again.
     */
    static final String READ = """
            WITH sight AS MATERIALIZED (
                SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last_number,
                       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS finished_before,
                       EXISTS (SELECT FROM {topic} WHERE id = ? AND paused) AS paused,
                       coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time()) AS server
                FROM {message_seq}
            )
            SELECT sight.*, found.*
            FROM sight
            LEFT JOIN (
                SELECT m.*
                FROM unnest(?::smallint[], ?::bigint[], ?::int[]) AS look (lane, start, room)
                CROSS JOIN LATERAL (
                    SELECT seq, id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                           CASE WHEN octet_length(payload) <= ? THEN payload END AS payload, headers, correlation_id, causation_id,
                           traceparent, tracestate, source, subject, occurred_at, deliver_at, lane, attempts, crashes
                    FROM {message}
                    WHERE topic_id = ? AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL AND seq > look.start
                      AND seq NOT IN (SELECT unnest(?::bigint[]))
                    ORDER BY seq
                    LIMIT look.room
                ) AS m
            ) AS found ON NOT sight.paused
            """;

    /** As {@link #READ}, within a byte budget: in the order of numbers, the message that reaches the budget is the last one. */
    static final String READ_WITHIN = """
            WITH sight AS MATERIALIZED (
                SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last_number,
                       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS finished_before,
                       EXISTS (SELECT FROM {topic} WHERE id = ? AND paused) AS paused,
                       coalesce(host(inet_server_addr()), '') || ' ' || extract(epoch FROM pg_postmaster_start_time()) AS server
                FROM {message_seq}
            )
            SELECT sight.*, found.*
            FROM sight
            LEFT JOIN (
                SELECT m.*, sum(octet_length(m.payload)) OVER (ORDER BY m.seq ROWS UNBOUNDED PRECEDING)
                            - octet_length(m.payload) AS before
                FROM unnest(?::smallint[], ?::bigint[], ?::int[]) AS look (lane, start, room)
                CROSS JOIN LATERAL (
                    SELECT seq, id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, headers,
                           correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at, deliver_at, lane,
                           attempts, crashes
                    FROM {message}
                    WHERE topic_id = ? AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL AND seq > look.start
                      AND seq NOT IN (SELECT unnest(?::bigint[]))
                    ORDER BY seq
                    LIMIT look.room
                ) AS m
            ) AS found ON NOT sight.paused AND found.before < ?
            """;

    /**
     * Reads the due scheduled messages and the due heads of blocked keys, each head with a limited number of messages behind it. The
     * caller stops at the first parked message of a key. Only the lowest retrying, blocked or parked row of a key is its head, even if
     * other rows of the key are due.
     */
    static final String READ_TIMED = """
            SELECT * FROM (
            SELECT found.*, sum(octet_length(found.payload)) OVER (ORDER BY found.seq) - octet_length(found.payload) AS before
            FROM unnest(?::smallint[]) AS look (lane)
            CROSS JOIN LATERAL (
                SELECT seq, state, tenant, ordering_key FROM {message} AS t
                WHERE topic_id = ? AND lane = look.lane AND state IN ('SCHEDULED', 'RETRY')
                  AND available_at <= statement_timestamp() AND seq NOT IN (SELECT unnest(?::bigint[]))
                  AND (state = 'SCHEDULED' OR NOT EXISTS (
                      SELECT FROM {message} AS w
                      WHERE w.topic_id = t.topic_id AND w.lane = t.lane AND w.ordering_key = t.ordering_key
                        AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM t.tenant AND w.seq < t.seq))
                ORDER BY available_at
                LIMIT ?
            ) AS due
            CROSS JOIN LATERAL (
                SELECT * FROM {message} WHERE seq = due.seq
                UNION ALL
                (SELECT * FROM {message} AS w
                 WHERE due.state = 'RETRY' AND w.topic_id = ? AND w.lane = look.lane AND w.ordering_key = due.ordering_key
                   AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM due.tenant AND w.seq > due.seq
                 ORDER BY w.seq
                 LIMIT ?)
            ) AS found
            WHERE NOT EXISTS (SELECT FROM {topic} WHERE id = ? AND paused)
            ) AS running
            WHERE before < ?
            ORDER BY seq
            """;

    static final String NEXT_DUE = """
            SELECT look.topic_id, t.paused, min(CASE
                     WHEN t.paused THEN NULL
                     WHEN EXISTS (SELECT FROM {message}
                                  WHERE topic_id = look.topic_id AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL
                                    AND seq > look.start) THEN 0
                     ELSE (SELECT (extract(epoch FROM available_at - clock_timestamp()) * 1000000)::bigint FROM {message}
                           WHERE topic_id = look.topic_id AND lane = look.lane AND state IN ('SCHEDULED', 'RETRY')
                           ORDER BY available_at LIMIT 1)
                   END) AS micros
            FROM unnest(?::int[], ?::smallint[], ?::bigint[]) AS look (topic_id, lane, start)
            JOIN {topic} AS t ON t.id = look.topic_id
            GROUP BY look.topic_id, t.paused
            """;

    /**
     * The fence, with which every outcome begins. A lane that was taken over or changed by an operator does not match, and then the
     * outcome changes no row. Takeovers and operators lock the lane FOR UPDATE, which conflicts with the fence; a renewal does not
     * conflict. While the fence has the lane locked, the statement waits for no message: locked rows are skipped.
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
                WHERE (SELECT set_config('lock_timeout', ?, true)) IS NOT NULL
                ORDER BY l.topic_id, l.lane
                FOR KEY SHARE OF l
            ),
            """;

    static final String FREE = """
            free AS MATERIALIZED (
                SELECT m.ctid AS place
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
                INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                       payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                       occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
                SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                       occurred_at, deliver_at, attempts + 1, crashes, created_at, clock_timestamp()
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

    static final String BLOCK = FENCE + FREE + """
            finished AS (
                UPDATE {message} AS m
                SET state = CASE WHEN EXISTS (
                                SELECT FROM {message} AS w
                                WHERE w.topic_id = m.topic_id AND w.lane = m.lane AND w.ordering_key = m.ordering_key
                                  AND w.state IN ('RETRY', 'BLOCKED', 'PARKED') AND w.tenant IS NOT DISTINCT FROM m.tenant
                                  AND w.seq < m.seq)
                            THEN 'BLOCKED' ELSE 'RETRY' END,
                    available_at = clock_timestamp(), updated_at = clock_timestamp()
                WHERE m.ctid = ANY (ARRAY(SELECT place FROM free)) AND m.state = 'PENDING'
                RETURNING m.seq, m.state
            )
            SELECT seq, state = 'BLOCKED' AS key_held, (SELECT pg_current_xact_id()::text::bigint) AS transaction,
                   NULL::bigint AS locked_head
            FROM finished
            """;
}
