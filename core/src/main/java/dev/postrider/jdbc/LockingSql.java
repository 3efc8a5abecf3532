package dev.postrider.jdbc;

/**
 * The statements of databases whose statements do not return the changed rows. In braces: table names, {@code {now}} and similar for
 * the clock of the database, {@code {time}} for a time parameter that may be null, {@code {values}} for a list of parameters, and
 * {@code {by key}} and {@code {delete message}} as in {@link Dialect#sql}.
 */
final class LockingSql {

    private LockingSql() {}

    static final String INSERT = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, lane, state, available_at, created_at, updated_at)
            VALUES {rows}
            """;

    static final String INSERT_ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             CASE WHEN ? AND COALESCE({time}, {now}) > {now} THEN 'SCHEDULED' ELSE 'PENDING' END,
             GREATEST(COALESCE({time}, {now}), {now}), {now}, {now})
            """;

    /** For MySQL and MariaDB. IGNORE hides only duplicate keys here: every column has a fixed size, and no value can be null. */
    static final String INSERT_MARKS =
            "INSERT IGNORE INTO {dedup} (topic_id, key_hash, message_id, payload_hash, seen_at) VALUES {rows}";

    static final String MARK_ROW = "(?, ?, ?, ?, {now})";

    /** IGNORE hides only duplicate keys here too: the lengths of names and tenants are checked before. */
    static final String INSERT_INBOX_MARKS =
            "INSERT IGNORE INTO {inbox_mark} (message_id, consumer, tenant, payload_hash, seen_at) VALUES {rows}";

    static final String INBOX_MARK_ROW = "(?, ?, ?, ?, {now})";

    /** The INSERT for local hand-over: each row is inserted either with a lease of this node or without a lease. */
    static final String INSERT_LEASED = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, lane, state, available_at, created_at, updated_at, lease_token, locked_by, locked_until)
            VALUES {rows}
            """;

    static final String INSERT_LEASED_ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             CASE WHEN ? AND COALESCE({time}, {now}) > {now} THEN 'SCHEDULED' ELSE 'PROCESSING' END,
             GREATEST(COALESCE({time}, {now}), {now}), {now}, {now}, ?, ?, {later})
            """;

    static final String INSERT_UNLEASED_ROW = """
            (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
             CASE WHEN ? AND COALESCE({time}, {now}) > {now} THEN 'SCHEDULED' ELSE 'PENDING' END,
             GREATEST(COALESCE({time}, {now}), {now}), {now}, {now}, NULL, NULL, NULL)
            """;

    static final String PAUSED = "SELECT id FROM {topic} WHERE paused AND id IN ({values})";

    /** Reads in index order, so that only returned rows are locked. Rows locked by other workers are skipped. */
    static final String LOCK_DUE = """
            SELECT seq, OCTET_LENGTH(payload) AS bytes FROM {message}
            WHERE state = 'PENDING' AND topic_id = ? AND available_at >= ? AND available_at <= {now}{tenants}
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String LOCK_EXPIRED = """
            SELECT seq, OCTET_LENGTH(payload) AS bytes FROM {message}
            WHERE state = 'PROCESSING' AND topic_id = ? AND locked_until < {now}
              AND attempts < ?{tenants}
              AND NOT EXISTS (SELECT 1 FROM {topic} t WHERE t.id = ? AND t.paused)
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String LEASE_DUE = """
            UPDATE {message}{by key}
            SET state = 'PROCESSING', attempts = attempts + 1, lease_token = ?, locked_by = ?, locked_until = {later},
                updated_at = {now}
            WHERE state = 'PENDING' AND seq IN ({values})
            """;

    static final String LEASE_EXPIRED = """
            UPDATE {message}{by key}
            SET attempts = attempts + 1, crashes = crashes + 1, lease_token = ?, locked_by = ?, locked_until = {later},
                updated_at = {now}
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    static final String READ = "SELECT * FROM {message} WHERE seq IN ({values})";

    /** Rows of many claims, with their tokens. The caller checks which number belongs to which token. */
    static final String LEASED = """
            SELECT seq, lease_token FROM {message}{by key}
            WHERE seq IN ({values}) AND lease_token IN ({tokens}) AND state = 'PROCESSING'
            """;

    static final String LOCK_CLAIM =
            "SELECT seq FROM {message} WHERE state = 'PROCESSING' AND topic_id = ? AND lease_token = ? FOR UPDATE SKIP LOCKED";

    static final String COPY = """
            INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                   payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                   occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
            SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                   CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                   occurred_at, deliver_at, GREATEST(attempts, 1), crashes, created_at, {now}
            FROM {message} WHERE seq IN ({values})
            """;

    /** Rows to be handled. The caller checks the id, the token and the state of each row. */
    static final String HANDLED =
            "SELECT seq, id, lease_token, state, {session} AS session_id, '' AS session_transaction FROM {message}{by key}"
                    + " WHERE seq IN ({values}) ORDER BY seq";

    static final String DELETE = "{delete message} WHERE seq IN ({values})";

    static final String RESCHEDULE = """
            UPDATE {message}
            SET state = 'PENDING', attempts = GREATEST(attempts, 1), available_at = {later}, last_error = ?, lease_token = NULL, locked_by = NULL,
                locked_until = NULL, updated_at = {now}
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    static final String BURY = """
            UPDATE {message}
            SET state = 'DEAD', attempts = GREATEST(attempts, 1), reason = ?, last_error = ?, fingerprint = ?, lease_token = NULL,
                locked_by = NULL, locked_until = NULL, updated_at = {now}
            WHERE seq = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    static final String RELEASE = """
            UPDATE {message}{by key}
            SET state = 'PENDING', attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END, available_at = {now},
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = {now}
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    static final String EXTEND =
            "UPDATE {message}{by key} SET locked_until = {later} WHERE state = 'PROCESSING' AND seq IN ({values})";

    static final String LOCK_LOST = """
            SELECT seq FROM {message}
            WHERE state = 'PROCESSING' AND topic_id = ? AND locked_until < {now} AND attempts >= ?
            ORDER BY available_at, seq
            LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String SWEEP = """
            UPDATE {message}{by key}
            SET state = 'DEAD', crashes = crashes + 1, reason = ?, last_error = ?, fingerprint = ?, lease_token = NULL,
                locked_by = NULL, locked_until = NULL, updated_at = {now}
            WHERE state = 'PROCESSING' AND seq IN ({values})
            """;

    static final String LOCK_OLD_DEAD =
            "SELECT seq FROM {message} WHERE state = 'DEAD' AND updated_at < {ago} LIMIT ? FOR UPDATE SKIP LOCKED";

    static final String LOCK_OLD_KEYS = """
            SELECT topic_id, key_hash FROM {dedup} d
            WHERE seen_at < {ago} AND seen_at >= {ago} AND NOT EXISTS (SELECT 1 FROM {message} m WHERE m.id = d.message_id)
            ORDER BY seen_at LIMIT ?
            FOR UPDATE SKIP LOCKED
            """;

    static final String PRESENT = "SELECT seq, id FROM {message}{by key} WHERE seq IN ({values})";

    static final String PURGE_DEAD = "{delete message} WHERE state = 'DEAD' AND seq IN ({values})";

    static final String PURGE_KEYS = "{delete dedup} WHERE topic_id = ? AND key_hash IN ({values})";

    static final String FIRST_USES = "SELECT * FROM {dedup}{by key} WHERE topic_id = ? AND key_hash IN ({values})";

    static final String NUMBERS = "SELECT seq, id FROM {message} WHERE id IN ({values})";

    static final String LIVE =
            "SELECT id, topic_id, tenant, idempotency_key, payload FROM {message} WHERE id IN ({values})";

    static final String LIVE_IDS = "SELECT id FROM {message} WHERE id IN ({values})";

    /** The time until the next due message and the next lease expiry of one topic. A union of these covers all topics. */
    static final String NEXT_DUE = """
            SELECT t.id,
                   (SELECT {until pending} FROM {message} m
                    WHERE m.state = 'PENDING' AND m.topic_id = t.id AND m.available_at >= ?
                    ORDER BY m.available_at LIMIT 1) AS pending,
                   (SELECT MIN({until leased}) FROM {message} m WHERE m.state = 'PROCESSING' AND m.topic_id = t.id) AS leased
            FROM {topic} t WHERE t.id = ? AND NOT t.paused
            """;
}
