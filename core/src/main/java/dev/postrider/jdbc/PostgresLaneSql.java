package dev.postrider.jdbc;

/** The statements of PostgreSQL for lanes, each whole: paste one into a console and put {@code postrider_} before the names in braces. */
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
     * Outcomes lock the lane FOR KEY SHARE, which this does not conflict with. A lane that an operator or a takeover has locked is left
     * out, and is told from a lost one by its token. The floor is only true of the server that showed it.
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

    /** {@code FOR UPDATE}: the statements of outcomes that are under way end before the lane is free. */
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

    /** What unmet rows are, to tell one that was locked from one that is gone. */
    static final String STATES = "SELECT seq, id, state FROM {message} WHERE seq = ANY (?::bigint[])";

    static final String HELD_KEYS = """
            SELECT DISTINCT lane, tenant, ordering_key FROM {message}
            WHERE topic_id = ? AND lane = ANY (?::smallint[]) AND state IN ('RETRY', 'PARKED')
            """;

    /**
     * The first rows of each lane, as many as its holder may have had, and what was due there. One that is locked is being handled at
     * this moment by somebody who is not lost, and waiting for that would keep the lane from everybody.
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

    static final String SET_ALONE = """
            UPDATE {lane} SET alone = ?
            WHERE topic_id = ? AND lane = ? AND token = ? AND (SELECT set_config('lock_timeout', ?, true)) IS NOT NULL
            """;

    /**
     * One statement, and so one snapshot, for all lanes, beginning where everything is known: two reads could show the second
     * message of a key and then the first. The last number is read without a transaction id, and paired later with one that is
     * taken after it; a sequence that was never used already shows the number that comes first. What was read before is left out by
     * a hashed list. The sight is materialized, or it would be taken again for every row. The rows of a lane come in the order of
     * their numbers; all of them are put into it by whoever reads them, which is cheaper than here.
     *
     * <p>Payloads that are larger than each may be if there is to be room for all are left out: then the whole answer is of no use,
     * and {@link #READ_WITHIN} is asked instead, which adds them up one by one. That takes half as long again.
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

    /** The same within a number of bytes: up to the first message, in the order of their numbers, that is beyond it. */
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
     * What is due beside the order, and the heads of held keys that are due, each with what is behind it up to the next one that
     * waits for an operator. Only the lowest waiting row of a key is its head, whatever else of it is due.
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
            SELECT look.topic_id, min(CASE
                     WHEN EXISTS (SELECT FROM {message}
                                  WHERE topic_id = look.topic_id AND lane = look.lane AND state = 'PENDING' AND lane IS NOT NULL
                                    AND seq > look.start) THEN 0
                     ELSE (SELECT (extract(epoch FROM available_at - clock_timestamp()) * 1000000)::bigint FROM {message}
                           WHERE topic_id = look.topic_id AND lane = look.lane AND state IN ('SCHEDULED', 'RETRY')
                           ORDER BY available_at LIMIT 1)
                   END) AS micros
            FROM unnest(?::int[], ?::smallint[], ?::bigint[]) AS look (topic_id, lane, start)
            JOIN {topic} AS t ON t.id = look.topic_id AND NOT t.paused
            GROUP BY look.topic_id
            """;

    /**
     * Every outcome begins with it: a lane that was taken over, or changed by an operator, is not found, and changes nothing. Takeovers and
     * operators lock the lane FOR UPDATE and exclude it; a renewal does not. While it holds the lane it waits for no message: rows that
     * somebody has locked are passed over.
     *
     * <p>It is asked by {@code IN … IS TRUE}, and so are the pairs of number and id: that is no join but a lookup in a hashed list,
     * once for each row that the index has found, whatever the planner thinks of the lists' lengths. As joins it took them for one
     * row and compared each of 500 with each of 500.
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

    /** What is returned is kept by the server until the end of the statement: no more of it than is needed. */
    static final String DELETE = FENCE + FREE + """
            finished AS (
                DELETE FROM {message} AS m WHERE m.ctid = ANY (ARRAY(SELECT place FROM free))
                RETURNING m.seq
            )
            """ + COUNTED;

    static final String ARCHIVE = FENCE + DELETED + ARCHIVED + COUNTED;

    /**
     * The lowest of what is left waiting in each key becomes its head, due now. Rows of this statement's own are still visible to
     * it, and are passed over. One that is being handled at this moment, or locked by anybody else, stays as it is and is named.
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
