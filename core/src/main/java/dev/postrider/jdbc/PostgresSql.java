package dev.postrider.jdbc;

import java.util.Collections;

/**
 * The statements of PostgreSQL. Each statement is complete: to run one in a console, replace the braces around a table name by the prefix
 * {@code postrider_}.
 */
final class PostgresSql {

    /** Returns no row if the command exists. The conflict does not abort the caller's transaction. */
    static final String INSERT_COMMAND =
            CommandSql.INSERT + "ON CONFLICT (id) DO NOTHING RETURNING " + CommandSql.COLUMNS;

    /**
     * Inserts a command or returns the existing row. Returns no row if the existing one is too new for the snapshot of this statement.
     * The returned row may have changed since, so every later write checks its fence.
     */
    static final String INSERT_OR_FIND_COMMAND =
            "WITH inserted AS (" + INSERT_COMMAND + ") SELECT * FROM inserted UNION ALL SELECT " + CommandSql.COLUMNS
                    + " FROM {command} WHERE id = ? AND NOT EXISTS (SELECT FROM inserted)";

    private PostgresSql() {}

    /** The beginning of every INSERT of messages. The values follow in this order. */
    static final String INTO_MESSAGE = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, lane, state, available_at)
            """;

    static final String ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             CASE WHEN ? AND ?::timestamptz > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
             greatest(?::timestamptz, clock_timestamp()))
            """;

    /** Uses plain values, which are faster than arrays up to about ten rows (docs/decisions/0012). */
    static final String INSERT_ONE = INTO_MESSAGE + "VALUES " + ROW + "ON CONFLICT (id) DO NOTHING";

    /** Returns the INSERT of this number of rows. PostgreSQL inserts VALUES in their written order. */
    static String insertFew(int rows) {
        return INTO_MESSAGE + "VALUES " + String.join(", ", Collections.nCopies(rows, ROW))
                + "ON CONFLICT (id) DO NOTHING RETURNING id";
    }

    static final String MARK = """
            WITH mark AS (
                INSERT INTO {dedup} (topic_id, key_hash, message_id, payload_hash) VALUES (?, ?, ?, ?)
                ON CONFLICT DO NOTHING
                RETURNING message_id
            )
            """;

    /** The inserted messages and marks. A mark without a message is of a message whose id is live; the caller deletes that mark. */
    static final String WRITTEN = """
            )
            SELECT written.id, mark.message_id AS marked FROM written FULL JOIN mark ON mark.message_id = written.id
            """;

    /** As {@link #WRITTEN}, with the numbers of the leased messages. */
    static final String WRITTEN_LEASED = """
            )
            SELECT written.id, seq, mark.message_id AS marked FROM written FULL JOIN mark ON mark.message_id = written.id
            """;

    /** Inserts mark and message in one statement. If the mark exists, the message is not inserted, and no error is raised. */
    static final String INSERT_ONE_KEYED = MARK + ", written AS ( " + INTO_MESSAGE + """
            SELECT ?::uuid, ?::int, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::bytea, ?::text,
                   ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::timestamptz, ?::timestamptz, ?::smallint,
                   CASE WHEN ? AND ?::timestamptz > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
                   greatest(?::timestamptz, clock_timestamp())
            FROM mark
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """ + WRITTEN;

    /** The rows of an INSERT. WITH ORDINALITY and ORDER BY keep the numbers in the order of the batch. */
    static final String INPUT = """
            unnest(?::uuid[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bytea[], ?::text[],
                   ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::timestamptz[], ?::timestamptz[],
                   ?::smallint[], ?::bytea[], ?::bytea[]) WITH ORDINALITY
              AS input (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, headers,
                        correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at, deliver_at,
                        lane, key_hash, payload_hash, ord)
            """;

    static final String INSERT_MESSAGE = INTO_MESSAGE + """
            SELECT input.id, input.topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                   deliver_at, lane,
                   CASE WHEN lane IS NOT NULL AND deliver_at > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
                   greatest(deliver_at, clock_timestamp())
            """;

    static final String INSERT =
            INSERT_MESSAGE + "FROM " + INPUT + "ORDER BY ord ON CONFLICT (id) DO NOTHING RETURNING id";

    static final String MARKS = """
            mark AS (
                INSERT INTO {dedup} (topic_id, key_hash, message_id, payload_hash)
                SELECT topic_id, key_hash, id, payload_hash FROM input WHERE key_hash IS NOT NULL
                ORDER BY topic_id, key_hash, ord -- every transaction takes its marks in the same order
                ON CONFLICT DO NOTHING
                RETURNING message_id
            )
            """;

    /** As {@link #INSERT_ONE_KEYED}, for several messages, also without a key. */
    static final String INSERT_KEYED = "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + "), " + MARKS
            + ", written AS ( " + INSERT_MESSAGE + """
            FROM input LEFT JOIN mark ON mark.message_id = input.id
            WHERE input.key_hash IS NULL OR mark.message_id IS NOT NULL
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """ + WRITTEN;

    /**
     * Inserts one message for local hand-over: with a lease of this node, unless its topic is paused. The last parameter is the number of
     * the topic. The result contains the number of the message if it was leased.
     */
    static final String ONE_LEASED = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, lane, state, available_at, lease_token, locked_by, locked_until)
            SELECT ?::uuid, ?::int, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::bytea, ?::text,
                   ?::text, ?::text, ?::text, ?::text, ?::text, ?::text, ?::timestamptz, ?::timestamptz, ?::smallint,
                   CASE WHEN NOT paused THEN 'PROCESSING'
                        WHEN ? AND ?::timestamptz > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
                   greatest(?::timestamptz, clock_timestamp()),
                   CASE WHEN NOT paused THEN ?::uuid END, CASE WHEN NOT paused THEN ? END,
                   CASE WHEN NOT paused THEN clock_timestamp() + ? * interval '1 microsecond' END
            """;

    static final String INSERT_ONE_LEASED = ONE_LEASED + """
            FROM {topic} AS t WHERE t.id = ?
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """;

    static final String INSERT_ONE_KEYED_LEASED = MARK + ", written AS ( " + ONE_LEASED + """
            FROM {topic} AS t CROSS JOIN mark WHERE t.id = ?
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """ + WRITTEN_LEASED;

    /**
     * Inserts several messages for local hand-over: those with the given ids get a lease of this node, unless their topic is paused. The
     * result contains the numbers of the leased messages.
     */
    static final String INSERT_LEASED_MESSAGE = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, lane, state, available_at, lease_token, locked_by, locked_until)
            SELECT input.id, input.topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                   deliver_at, lane,
                   CASE WHEN open_topic IS NOT NULL THEN 'PROCESSING'
                        WHEN lane IS NOT NULL AND deliver_at > clock_timestamp() THEN 'SCHEDULED' ELSE 'PENDING' END,
                   greatest(deliver_at, clock_timestamp()),
                   CASE WHEN open_topic IS NOT NULL THEN ?::uuid END, CASE WHEN open_topic IS NOT NULL THEN ? END,
                   CASE WHEN open_topic IS NOT NULL THEN clock_timestamp() + ? * interval '1 microsecond' END
            FROM input
            LEFT JOIN (SELECT id FROM {topic} WHERE NOT paused) AS topics (open_topic)
                   ON open_topic = input.topic_id AND input.id = ANY (?::uuid[])
            """;

    static final String INSERT_LEASED =
            "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + ")\n" + INSERT_LEASED_MESSAGE + """
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """;

    static final String INSERT_KEYED_LEASED = "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + "), " + MARKS
            + ", written AS ( " + INSERT_LEASED_MESSAGE + """
            LEFT JOIN mark ON mark.message_id = input.id
            WHERE input.key_hash IS NULL OR mark.message_id IS NOT NULL
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id, CASE WHEN lease_token IS NOT NULL THEN seq END AS seq
            """ + WRITTEN_LEASED;

    static final String FIRST_USES = """
            SELECT d.topic_id, d.key_hash, d.message_id, d.payload_hash
            FROM unnest(?::int[], ?::bytea[]) AS wanted (topic_id, key_hash)
            JOIN {dedup} d ON d.topic_id = wanted.topic_id AND d.key_hash = wanted.key_hash
            """;

    static final String LIVE =
            "SELECT id, topic_id, tenant, idempotency_key, payload FROM {message} WHERE id = ANY (?::uuid[])";

    /**
     * Claims due messages. The rows are locked in a materialized CTE, so that the limit is applied once. The window then stops at the
     * byte budget. The rows are updated by ctid, which does not change while a row is locked. With a join by number, a planner that
     * estimates an empty queue would read the whole index (docs/decisions/0011). statement_timestamp() is stable, so it bounds the index
     * scan. clock_timestamp() gives the lease its full length. The last columns show from which time on a message can still appear
     * ({@link DueScanStart.Sight}).
     */
    static final String CLAIM_DUE = """
            WITH due AS MATERIALIZED (
                SELECT ctid AS place, seq, available_at, octet_length(payload) AS bytes
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
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?, locked_by = ?,
                locked_until = clock_timestamp() + ? * interval '1 microsecond', updated_at = clock_timestamp()
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM fitting))
            RETURNING m.*, statement_timestamp() AS looked_at, (SELECT pg_current_xact_id()::text::bigint) AS transaction,
                      (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint) AS finished_before
            """;

    static final String CLAIM_EXPIRED = """
            WITH expired AS MATERIALIZED (
                SELECT ctid AS place, seq, locked_until, octet_length(payload) AS bytes
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
            SET attempts = attempts + 1, crashes = crashes + 1, lease_token = ?, locked_by = ?,
                locked_until = clock_timestamp() + ? * interval '1 microsecond', updated_at = clock_timestamp()
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM fitting))
            RETURNING m.*
            """;

    // An outcome statement changes rows of many claims, each row with its own token. It checks the token and not the
    // state: a constraint of the table ensures that a row has a token exactly while it is PROCESSING. With the state in
    // the condition, the planner could scan all leased rows instead of looking up the numbers. A row inserted by local
    // hand-over has no counted attempt yet, so every outcome of an attempt counts it.

    // No outcome statement waits for a row: an abandoned handler may keep it locked at the server for minutes. A locked
    // row is skipped, and the caller tries its outcome again.

    static final String DELETE = """
            WITH mine AS MATERIALIZED (
                SELECT seq FROM {message}
                WHERE seq = ANY (?::bigint[]) AND (seq, lease_token) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[]))
                FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {message} WHERE seq = ANY (ARRAY(SELECT seq FROM mine))
            RETURNING seq, lease_token
            """;

    static final String ARCHIVE = """
            WITH mine AS MATERIALIZED (
                SELECT seq FROM {message}
                WHERE seq = ANY (?::bigint[]) AND (seq, lease_token) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[]))
                FOR UPDATE SKIP LOCKED
            ), done AS (
                DELETE FROM {message} WHERE seq = ANY (ARRAY(SELECT seq FROM mine))
                RETURNING *
            ), kept AS (
                INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                       payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                       occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
                SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                       occurred_at, deliver_at, greatest(attempts, 1), crashes, created_at, clock_timestamp()
                FROM done
            )
            SELECT seq, lease_token FROM done
            """;

    /** Locks rows to be handled. A row of a lane has no token. Each row must be in one of its states, a list separated by commas. */
    static final String LOCK_HANDLED = """
            SELECT m.seq, set_config('idle_in_transaction_session_timeout', ?, true),
                   pg_backend_pid() AS session_id, pg_current_xact_id()::xid::text AS session_transaction
            FROM unnest(?::bigint[], ?::uuid[], ?::uuid[], ?::text[]) AS mine (seq, id, token, states)
            JOIN {message} m ON m.seq = mine.seq AND m.id = mine.id AND m.lease_token IS NOT DISTINCT FROM mine.token
                            AND m.state = ANY (string_to_array(mine.states, ','))
            ORDER BY m.seq
            FOR UPDATE OF m SKIP LOCKED
            """;

    /** The rows that still have their id, token and one of their states, locked or not. */
    static final String STILL_HANDLED = """
            SELECT m.seq
            FROM unnest(?::bigint[], ?::uuid[], ?::uuid[], ?::text[]) AS mine (seq, id, token, states)
            JOIN {message} m ON m.seq = mine.seq AND m.id = mine.id AND m.lease_token IS NOT DISTINCT FROM mine.token
                            AND m.state = ANY (string_to_array(mine.states, ','))
            """;

    static final String REMOVE_HANDLED = """
            WITH free AS MATERIALIZED (
                SELECT m.seq
                FROM unnest(?::bigint[], ?::uuid[], ?::uuid[], ?::text[]) AS mine (seq, id, token, states)
                JOIN {message} m ON m.seq = mine.seq AND m.id = mine.id AND m.lease_token IS NOT DISTINCT FROM mine.token
                                AND m.state = ANY (string_to_array(mine.states, ','))
                FOR UPDATE OF m SKIP LOCKED
            ), removed AS (
                DELETE FROM {message} WHERE seq = ANY (ARRAY(SELECT seq FROM free))
                RETURNING *
            )
            """;

    static final String ARCHIVE_HANDLED = """
            , kept AS (
                INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                       payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                       occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
                SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                       occurred_at, deliver_at, CASE WHEN lane IS NULL THEN greatest(attempts, 1) ELSE attempts + 1 END, crashes,
                       created_at, clock_timestamp()
                FROM removed
            )
            """;

    /** Sets the idle limit: a process that is frozen in a handler must not keep its message locked for ever. */
    static final String COUNT_HANDLED = """
            SELECT (SELECT count(*) FROM removed) AS met, set_config('idle_in_transaction_session_timeout', ?, true),
                   pg_backend_pid() AS session_id, pg_current_xact_id()::xid::text AS session_transaction
            """;

    /** Ends a session only while it is in that transaction, because sessions and their process ids are reused. */
    static final String END_SESSION =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = ? AND backend_xid::text = ?";

    static final String REMOVE_HANDLED_ONLY = REMOVE_HANDLED + COUNT_HANDLED;

    static final String REMOVE_AND_ARCHIVE_HANDLED = REMOVE_HANDLED + ARCHIVE_HANDLED + COUNT_HANDLED;

    /** Removes one handled message without arrays: most transactions handle one message, and an array costs more than the row. */
    private static final String REMOVE_ONE_HANDLED = """
            WITH free AS MATERIALIZED (
                SELECT seq FROM {message}
                WHERE seq = ? AND id = ? AND lease_token IS NOT DISTINCT FROM ? AND state = ANY (string_to_array(?, ','))
                FOR UPDATE SKIP LOCKED
            ), removed AS (
                DELETE FROM {message} WHERE seq = (SELECT seq FROM free)
                RETURNING {columns}
            )
            """;

    static final String REMOVE_ONE_HANDLED_ONLY = REMOVE_ONE_HANDLED.replace("{columns}", "seq") + COUNT_HANDLED;

    static final String REMOVE_AND_ARCHIVE_ONE_HANDLED =
            REMOVE_ONE_HANDLED.replace("{columns}", "*") + ARCHIVE_HANDLED + COUNT_HANDLED;

    static final String PRESENT_IN_THE_END = "SELECT seq, id FROM {message} WHERE seq = ANY (?::bigint[]) FOR UPDATE";

    static final String RESCHEDULE = """
            WITH mine AS MATERIALIZED (
                SELECT failed.*
                FROM unnest(?::bigint[], ?::uuid[], ?::bigint[], ?::text[]) AS failed (seq, lease_token, delay, error)
                JOIN {message} AS m ON m.seq = failed.seq AND m.lease_token = failed.lease_token
                FOR UPDATE OF m SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'PENDING', attempts = greatest(attempts, 1),
                available_at = clock_timestamp() + failed.delay * interval '1 microsecond', last_error = failed.error,
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            FROM mine AS failed
            WHERE m.seq = failed.seq AND m.lease_token = failed.lease_token
            RETURNING failed.seq, failed.lease_token
            """;

    static final String BURY = """
            WITH mine AS MATERIALIZED (
                SELECT dead.*
                FROM unnest(?::bigint[], ?::uuid[], ?::text[], ?::text[], ?::text[])
                         AS dead (seq, lease_token, reason, error, fingerprint)
                JOIN {message} AS m ON m.seq = dead.seq AND m.lease_token = dead.lease_token
                FOR UPDATE OF m SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'DEAD', attempts = greatest(attempts, 1), reason = dead.reason, last_error = dead.error,
                fingerprint = dead.fingerprint, lease_token = NULL, locked_by = NULL, locked_until = NULL,
                updated_at = clock_timestamp()
            FROM mine AS dead
            WHERE m.seq = dead.seq AND m.lease_token = dead.lease_token
            RETURNING dead.seq, dead.lease_token
            """;

    static final String RELEASE = """
            WITH mine AS MATERIALIZED (
                SELECT given_back.*
                FROM unnest(?::bigint[], ?::uuid[]) AS given_back (seq, lease_token)
                JOIN {message} AS m ON m.seq = given_back.seq AND m.lease_token = given_back.lease_token
                FOR UPDATE OF m SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'PENDING', attempts = greatest(attempts - 1, 0), available_at = clock_timestamp(),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            FROM mine AS given_back
            WHERE m.seq = given_back.seq AND m.lease_token = given_back.lease_token
            RETURNING given_back.seq, given_back.lease_token
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

    static final String EXTEND = """
            WITH mine AS MATERIALIZED (
                SELECT seq FROM {message}
                WHERE seq = ANY (?::bigint[]) AND (seq, lease_token) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[]))
                FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} SET locked_until = clock_timestamp() + ? * interval '1 microsecond'
            WHERE seq = ANY (ARRAY(SELECT seq FROM mine))
            RETURNING seq, lease_token
            """;

    /** The rows that are leased under their tokens, locked or not. */
    static final String STILL_LEASED = """
            SELECT seq, lease_token FROM {message}
            WHERE seq = ANY (?::bigint[]) AND (seq, lease_token) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[]))
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
            SET state = 'DEAD', crashes = crashes + 1, reason = ?, last_error = ?, fingerprint = ?,
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

    static final String PURGE_ARCHIVE = """
            DELETE FROM {archive} AS a USING (
                SELECT delivered_at, seq FROM {archive}
                WHERE delivered_at < statement_timestamp() - ? * interval '1 microsecond'
                  AND delivered_at >= statement_timestamp() - ? * interval '1 microsecond'
                ORDER BY delivered_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            ) AS old
            WHERE a.delivered_at = old.delivered_at AND a.seq = old.seq
            """;

    /** The outer condition repeats state and age: a row that was replayed while the statement waited for it stays. */
    static final String PURGE_DEAD = """
            WITH old AS MATERIALIZED (
                SELECT seq FROM {message} WHERE state = 'DEAD' AND updated_at < statement_timestamp() - ? * interval '1 microsecond'
                LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {message} AS m USING old
            WHERE m.seq = old.seq AND m.state = 'DEAD' AND m.updated_at < statement_timestamp() - ? * interval '1 microsecond'
            """;

    static final String PURGE_KEYS = """
            WITH old AS MATERIALIZED (
                SELECT topic_id, key_hash FROM {dedup} AS d
                WHERE seen_at < statement_timestamp() - ? * interval '1 microsecond'
                  AND seen_at >= statement_timestamp() - ? * interval '1 microsecond'
                  AND NOT EXISTS (SELECT FROM {message} WHERE id = d.message_id)
                ORDER BY seen_at LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {dedup} AS d USING old WHERE d.topic_id = old.topic_id AND d.key_hash = old.key_hash
            """;

    static final String PRESENT = "SELECT seq, id FROM {message} WHERE seq = ANY (?::bigint[])";
}
