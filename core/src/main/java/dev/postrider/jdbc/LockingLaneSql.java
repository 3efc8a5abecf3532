package dev.postrider.jdbc;

/**
 * The lane statements of databases whose statements do not return the changed rows. In braces: table names, {@code {now}} and
 * similar for the clock of the database, {@code {values}} for a list of parameters, {@code {by lane}} for the hint that forces the lane
 * index, and {@code {by key}} and {@code {delete message}} as in {@link Dialect#sql}.
 */
final class LockingLaneSql {

    private LockingLaneSql() {}

    static final String LOCK_FREE = """
            SELECT lane, revision, floor, owner, alone, buffer FROM {lane}
            WHERE topic_id = ? AND until < {ago}
            ORDER BY lane
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String TAKE =
            "UPDATE {lane} SET owner = ?, token = ?, until = {later}, buffer = ?, alone = NULL WHERE topic_id = ? AND lane = ?";

    /** Ordered by lane, as in every statement that locks several lanes. The caller appends the lock clause. */
    static final String LANES =
            "SELECT lane, token, revision, floor FROM {lane}{by key} WHERE topic_id = ? AND lane IN ({values}) ORDER BY lane";

    static final String PROLONG =
            "UPDATE {lane}{by key} SET until = {later}, buffer = ? WHERE topic_id = ? AND lane IN ({values})";

    static final String STORE_FLOOR = "UPDATE {lane} SET floor = GREATEST(floor, ?) WHERE topic_id = ? AND lane = ?";

    static final String FREE = """
            UPDATE {lane} SET owner = NULL, token = NULL, until = {now}, floor = GREATEST(floor, ?), buffer = 0, alone = NULL
            WHERE topic_id = ? AND lane = ? AND token = ?
            """;

    static final String WITH_TOKEN = "SELECT topic_id, lane, token FROM {lane} WHERE token IN ({values})";

    static final String FREE_TOKEN = """
            UPDATE {lane} SET owner = NULL, token = NULL, until = {now}, alone = NULL
            WHERE topic_id = ? AND lane = ? AND token = ?
            """;

    static final String BLOCKED_KEYS = """
            SELECT DISTINCT lane, tenant, ordering_key FROM {message}
            WHERE state IN ('RETRY', 'PARKED') AND topic_id = ? AND lane IN ({values})
            """;

    static final String FIRST_IN_LANE = """
            SELECT seq FROM {message}{by lane} WHERE state = 'PENDING' AND topic_id = ? AND lane = ? AND seq > ? ORDER BY seq LIMIT ?
            """;

    static final String DUE_IN_LANE = """
            SELECT seq FROM {message}
            WHERE state IN ('SCHEDULED', 'RETRY') AND topic_id = ? AND lane = ? AND available_at <= {now} ORDER BY seq LIMIT ?
            """;

    static final String LOCK_FREE_ROWS =
            "SELECT seq FROM {message}{by key} WHERE seq IN ({values}) FOR UPDATE SKIP LOCKED";

    static final String SUSPECT_MANY =
            "UPDATE {message}{by key} SET crashes = CASE WHEN crashes < 2 THEN crashes + 1 ELSE crashes END WHERE seq IN ({values})";

    static final String SUSPECT_ONE = """
            UPDATE {message}{by key} SET crashes = crashes + 1
            WHERE seq IN ({values}) AND topic_id = ? AND lane IS NOT NULL AND state <> 'DEAD'
            """;

    /** The states of rows that an outcome did not change: tells a locked row from a removed one. */
    static final String STATES = "SELECT seq, id, state FROM {message} WHERE seq IN ({values})";

    static final String SET_ISOLATED = "UPDATE {lane} SET alone = ? WHERE topic_id = ? AND lane = ? AND token = ?";

    /** The highest visible number, the time of the database, and whether the topic is paused. */
    static final String SIGHT = """
            SELECT {now} AS now, (SELECT MAX(seq) FROM {message}) AS last_number, (SELECT paused FROM {topic} WHERE id = ?) AS paused
            """;

    /** The next messages of one lane. A union of these reads all lanes in one statement and one snapshot. */
    static final String NEXT_IN_LANE = """
            (SELECT seq, lane, OCTET_LENGTH(payload) AS bytes FROM {message}{by lane}
             WHERE state = 'PENDING' AND topic_id = ? AND lane = ? AND seq > ?
             ORDER BY seq LIMIT ?)
            """;

    static final String DUE = """
            SELECT seq, state, lane, tenant, ordering_key, OCTET_LENGTH(payload) AS bytes FROM {message}
            WHERE state = ? AND topic_id = ? AND available_at <= {now} AND lane IN ({values})
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq LIMIT ?
            """;

    /** The messages of a blocked key in one state, in index order. {@code {tenant}} is a comparison. */
    static final String WAITING = """
            (SELECT seq, lane, state, OCTET_LENGTH(payload) AS bytes FROM {message}{by lane}
             WHERE state = '{state}' AND topic_id = ? AND lane = ? AND ordering_key = ? AND {tenant}
             ORDER BY seq LIMIT ?)
            """;

    static final String READ = "SELECT * FROM {message} WHERE seq IN ({values})";

    static final String NEXT_DUE = """
            SELECT t.id, t.paused,
                   (SELECT 0 FROM {message} m
                    WHERE m.state = 'PENDING' AND m.topic_id = t.id AND m.lane IN ({values}) AND m.seq > ? LIMIT 1) AS in_order,
                   (SELECT {until} FROM {message} m
                    WHERE m.state = 'RETRY' AND m.topic_id = t.id ORDER BY m.available_at LIMIT 1) AS retry,
                   (SELECT {until} FROM {message} m
                    WHERE m.state = 'SCHEDULED' AND m.topic_id = t.id ORDER BY m.available_at LIMIT 1) AS scheduled
            FROM {topic} t WHERE t.id = ?
            """;

    /** Skips locked rows: the statement must not wait for a row while it has the lane locked. */
    static final String FIND = """
            SELECT seq, id, topic_id, state, lane, tenant, ordering_key FROM {message}{by key} WHERE seq IN ({values})
            FOR UPDATE SKIP LOCKED
            """;

    /** Counts the attempt: on lanes, an attempt is counted with its outcome. */
    static final String COPY = """
            INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                   payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                   occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
            SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                   CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                   occurred_at, deliver_at, attempts + 1, crashes, created_at, {now}
            FROM {message} WHERE seq IN ({values})
            """;

    static final String MOVE = """
            UPDATE {message}
            SET state = ?, attempts = ?, last_error = ?, reason = ?, fingerprint = ?, available_at = {due}, updated_at = {now}
            WHERE seq = ?
            """;

    static final String WAIT =
            "UPDATE {message}{by key} SET state = ?, available_at = {now}, updated_at = {now} WHERE seq IN ({values})";
}
