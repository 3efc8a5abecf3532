package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.internal.Json;
import dev.postrider.message.Message;
import dev.postrider.message.MessageId;
import dev.postrider.store.ClaimRequest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** PostgreSQL: one statement for each verb, arrays for batches, RETURNING for the answer. */
final class PostgresDialect extends Dialect {

    /** Rows of an INSERT; WITH ORDINALITY and ORDER BY keep the numbers in the order of the batch. */
    private static final String INPUT = """
            unnest(?::uuid[], ?::int[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bytea[], ?::text[],
                   ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::timestamptz[], ?::timestamptz[],
                   ?::bytea[], ?::bytea[]) WITH ORDINALITY
              AS input (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload, headers,
                        correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at, deliver_at,
                        key_hash, payload_hash, ord)
            """;

    private static final String INSERT_MESSAGE = """
            INSERT INTO {message} (id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                                   deliver_at, available_at)
            SELECT input.id, input.topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                   headers, correlation_id, causation_id, traceparent, tracestate, source, subject, occurred_at,
                   deliver_at, greatest(deliver_at, clock_timestamp())
            """;

    private static final String INSERT =
            INSERT_MESSAGE + "FROM " + INPUT + "ORDER BY ord ON CONFLICT (id) DO NOTHING RETURNING id";

    /** Mark and message in one statement: a key that is taken keeps its message out, and nothing is raised. */
    private static final String INSERT_KEYED =
            "WITH input AS MATERIALIZED (SELECT * FROM " + INPUT + """
            ), mark AS (
                INSERT INTO {dedup} (topic_id, key_hash, message_id, payload_hash)
                SELECT topic_id, key_hash, id, payload_hash FROM input WHERE key_hash IS NOT NULL
                ORDER BY topic_id, key_hash, ord -- every transaction takes its marks in the same order
                ON CONFLICT DO NOTHING
                RETURNING message_id
            )
            """ + INSERT_MESSAGE + """
            FROM input LEFT JOIN mark ON mark.message_id = input.id
            WHERE input.key_hash IS NULL OR mark.message_id IS NOT NULL
            ORDER BY ord
            ON CONFLICT (id) DO NOTHING
            RETURNING id
            """;

    private static final String FIRST_USES = """
            SELECT d.topic_id, d.key_hash, d.message_id, d.payload_hash
            FROM unnest(?::int[], ?::bytea[]) AS wanted (topic_id, key_hash)
            JOIN {dedup} d ON d.topic_id = wanted.topic_id AND d.key_hash = wanted.key_hash
            """;

    /**
     * The rows are locked in a materialised CTE, so that the limit is applied once; the window then stops at the byte budget.
     * They are updated by their place in the table, where a locked row stays: joined by number, a planner that believes the
     * queue to be empty reads the whole of its index (docs/decisions/0011). statement_timestamp() is stable, so it bounds the index scan;
     * clock_timestamp() makes the lease whole.
     */
    static final String CLAIM_DUE = """
            WITH due AS MATERIALIZED (
                SELECT ctid AS place, seq, available_at, octet_length(payload) AS bytes
                FROM {message}
                WHERE topic_id = ? AND state = 'PENDING' AND available_at >= ? AND available_at <= statement_timestamp()
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
            RETURNING m.*
            """;

    static final String CLAIM_EXPIRED = """
            WITH expired AS MATERIALIZED (
                SELECT ctid AS place, seq, octet_length(payload) AS bytes
                FROM {message}
                WHERE topic_id = ? AND state = 'PROCESSING' AND locked_until < statement_timestamp()
                  AND attempts < ? AND (?::text[] IS NULL OR tenant = ANY (?::text[]))
                  AND NOT EXISTS (SELECT FROM {topic} WHERE id = ? AND paused)
                ORDER BY seq
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            ), fitting AS MATERIALIZED (
                SELECT place FROM (SELECT place, sum(bytes) OVER (ORDER BY seq) - bytes AS before FROM expired) AS running
                WHERE before < ?
            )
            UPDATE {message} AS m
            SET attempts = attempts + 1, crashes = crashes + 1, lease_token = ?, locked_by = ?,
                locked_until = clock_timestamp() + ? * interval '1 microsecond', updated_at = clock_timestamp()
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM fitting))
            RETURNING m.*
            """;

    // Outcomes name the token and not the state: a row has a token exactly while it is PROCESSING, by the table's own
    // constraint,
    // and naming the state would let the planner go through all that is leased instead of looking up the numbers.

    static final String DELETE =
            "DELETE FROM {message} WHERE seq = ANY (?::bigint[]) AND lease_token = ? RETURNING seq";

    static final String ARCHIVE = """
            WITH done AS (
                DELETE FROM {message} WHERE seq = ANY (?::bigint[]) AND lease_token = ? RETURNING *
            )
            INSERT INTO {archive} (seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                                   payload, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                                   occurred_at, deliver_at, attempts, crashes, created_at, delivered_at)
            SELECT seq, id, topic_id, namespace, topic, type, tenant, ordering_key, idempotency_key, content_type,
                   CASE WHEN ? THEN payload END, headers, correlation_id, causation_id, traceparent, tracestate, source, subject,
                   occurred_at, deliver_at, attempts, crashes, created_at, clock_timestamp()
            FROM done
            RETURNING seq
            """;

    static final String RESCHEDULE = """
            UPDATE {message} AS m
            SET state = 'PENDING', available_at = clock_timestamp() + failed.delay * interval '1 microsecond',
                last_error = failed.error, lease_token = NULL, locked_by = NULL, locked_until = NULL,
                updated_at = clock_timestamp()
            FROM unnest(?::bigint[], ?::bigint[], ?::text[]) AS failed (seq, delay, error)
            WHERE m.seq = failed.seq AND m.lease_token = ?
            RETURNING m.seq
            """;

    private static final String BURY = """
            UPDATE {message} AS m
            SET state = 'DEAD', reason = dead.reason, last_error = dead.error, fingerprint = dead.fingerprint,
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[]) AS dead (seq, reason, error, fingerprint)
            WHERE m.seq = dead.seq AND m.lease_token = ?
            RETURNING m.seq
            """;

    private static final String RELEASE = """
            UPDATE {message}
            SET state = 'PENDING', attempts = greatest(attempts - 1, 0), available_at = clock_timestamp(),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            WHERE seq = ANY (?::bigint[]) AND lease_token = ?
            RETURNING seq
            """;

    private static final String RELEASE_CLAIM = """
            UPDATE {message}
            SET state = 'PENDING', attempts = greatest(attempts - 1, 0), available_at = clock_timestamp(),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            WHERE topic_id = ? AND lease_token = ? AND state = 'PROCESSING'
            """;

    private static final String EXTEND = """
            UPDATE {message} SET locked_until = clock_timestamp() + ? * interval '1 microsecond'
            WHERE seq = ANY (?::bigint[]) AND lease_token = ?
            RETURNING seq
            """;

    private static final String SWEEP = """
            WITH lost AS MATERIALIZED (
                SELECT ctid AS place FROM {message}
                WHERE topic_id = ? AND state = 'PROCESSING' AND locked_until < statement_timestamp()
                  AND attempts >= ?
                ORDER BY seq
                LIMIT ?
                FOR UPDATE SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'DEAD', crashes = crashes + 1, reason = ?, last_error = ?, fingerprint = ?,
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            WHERE m.ctid = ANY (ARRAY(SELECT place FROM lost))
            """;

    /** One statement for all topics: the head of each queue, and the first lease to run out. */
    static final String NEXT_DUE = """
            SELECT t.id, (extract(epoch FROM least(
                     (SELECT available_at FROM {message} WHERE topic_id = t.id AND state = 'PENDING' AND available_at >= look.start
                      ORDER BY available_at LIMIT 1),
                     (SELECT min(locked_until) FROM {message} WHERE topic_id = t.id AND state = 'PROCESSING')
                   ) - clock_timestamp()) * 1000000)::bigint AS micros
            FROM unnest(?::int[], ?::timestamptz[]) AS look (topic_id, start)
            JOIN {topic} t ON t.id = look.topic_id
            WHERE NOT t.paused
            """;

    private static final String PURGE_ARCHIVE = """
            DELETE FROM {archive} AS a USING (
                SELECT delivered_at, seq FROM {archive} WHERE delivered_at < clock_timestamp() - ? * interval '1 microsecond'
                ORDER BY delivered_at, seq LIMIT ? FOR UPDATE SKIP LOCKED
            ) AS old
            WHERE a.delivered_at = old.delivered_at AND a.seq = old.seq
            """;

    /** The outer condition repeats state and age: a row that was replayed while this waited for it stays. */
    private static final String PURGE_DEAD = """
            WITH old AS MATERIALIZED (
                SELECT seq FROM {message} WHERE state = 'DEAD' AND updated_at < statement_timestamp() - ? * interval '1 microsecond'
                LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {message} AS m USING old
            WHERE m.seq = old.seq AND m.state = 'DEAD' AND m.updated_at < statement_timestamp() - ? * interval '1 microsecond'
            """;

    private static final String PURGE_KEYS = """
            WITH old AS MATERIALIZED (
                SELECT topic_id, key_hash FROM {dedup} AS d
                WHERE seen_at < statement_timestamp() - ? * interval '1 microsecond'
                  AND NOT EXISTS (SELECT FROM {message} WHERE id = d.message_id)
                ORDER BY seen_at LIMIT ? FOR UPDATE SKIP LOCKED
            )
            DELETE FROM {dedup} AS d USING old WHERE d.topic_id = old.topic_id AND d.key_hash = old.key_hash
            """;

    PostgresDialect(Tables tables) {
        super(tables);
    }

    @Override
    String folder() {
        return "postgresql";
    }

    @Override
    String now() {
        return "clock_timestamp()";
    }

    @Override
    String later() {
        return "clock_timestamp() + ? * interval '1 microsecond'";
    }

    @Override
    void bindUuid(PreparedStatement statement, int index, UUID value) throws SQLException {
        statement.setObject(index, value);
    }

    @Override
    UUID readUuid(ResultSet row, String column) throws SQLException {
        return row.getObject(column, UUID.class);
    }

    @Override
    void bindTime(PreparedStatement statement, int index, Instant value) throws SQLException {
        statement.setObject(index, value.atOffset(ZoneOffset.UTC));
    }

    @Override
    @Nullable
    Instant readTime(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    @Override
    Set<UUID> insert(Connection connection, List<NewRow> rows) throws SQLException {
        boolean keyed = rows.stream().anyMatch(row -> row.mark() != null);
        try (PreparedStatement statement = connection.prepareStatement(sql(keyed ? INSERT_KEYED : INSERT))) {
            bindInput(bind(statement), rows);
            Set<UUID> inserted = new HashSet<>();
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    inserted.add(answer.getObject(1, UUID.class));
                }
            }
            return inserted;
        }
    }

    private static void bindInput(Binder binder, List<NewRow> rows) throws SQLException {
        binder.array("uuid", column(rows, Message::id, MessageId::value))
                .array("int4", rows.stream().map(NewRow::topicId).toArray())
                .array("text", column(rows, message -> message.topic().namespace()))
                .array("text", column(rows, message -> message.topic().topic()))
                .array("text", column(rows, Message::type))
                .array("text", column(rows, Message::tenant))
                .array("text", column(rows, Message::key))
                .array("text", column(rows, Message::idempotencyKey))
                .array("text", column(rows, message -> message.payload().contentType()))
                .array(
                        "bytea",
                        rows.stream()
                                .map(row -> row.message().payload().bytes())
                                .toArray(byte[][]::new))
                .array("text", column(rows, message -> Json.write(message.headers())))
                .array("text", column(rows, Message::correlationId))
                .array("text", column(rows, Message::causationId))
                .array(
                        "text",
                        column(
                                rows,
                                message -> message.trace() == null
                                        ? null
                                        : message.trace().traceparent()))
                .array(
                        "text",
                        column(
                                rows,
                                message -> message.trace() == null
                                        ? null
                                        : message.trace().tracestate()))
                .array("text", column(rows, Message::source))
                .array("text", column(rows, Message::subject))
                .array("timestamptz", column(rows, Message::occurredAt, PostgresDialect::timestamp))
                .array("timestamptz", column(rows, Message::deliverAt, PostgresDialect::timestamp))
                .array(
                        "bytea",
                        rows.stream()
                                .map(row -> row.mark() == null ? null : row.mark().keyHash)
                                .toArray(byte[][]::new))
                .array(
                        "bytea",
                        rows.stream()
                                .map(row -> row.mark() == null ? null : row.mark().payloadHash)
                                .toArray(byte[][]::new));
    }

    private static Object[] column(List<NewRow> rows, Function<Message, @Nullable String> value) {
        return rows.stream().map(row -> value.apply(row.message())).toArray(String[]::new);
    }

    private static <T> Object[] column(
            List<NewRow> rows, Function<Message, @Nullable T> value, Function<T, Object> converted) {
        Object[] column = new Object[rows.size()];
        for (int i = 0; i < column.length; i++) {
            T given = value.apply(rows.get(i).message());
            column[i] = given == null ? null : converted.apply(given);
        }
        return column;
    }

    /** ISO 8601 in UTC is read the same in every session, whatever its time zone and date style. */
    private static Object timestamp(Instant time) {
        return time.toString();
    }

    @Override
    Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(FIRST_USES))) {
            bind(statement)
                    .array("int4", marks.stream().map(mark -> mark.topicId).toArray())
                    .array("bytea", marks.stream().map(mark -> mark.keyHash).toArray(byte[][]::new));
            return FirstUses.read(statement, this);
        }
    }

    @Override
    boolean claimsInOneStatement() {
        return true;
    }

    @Override
    List<ClaimedRow> claimDue(Connection connection, int topicId, ClaimRequest request, UUID token, Instant from)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(CLAIM_DUE))) {
            Binder binder = bind(statement).integer(topicId).time(from);
            return claim(statement, binder, topicId, request, token);
        }
    }

    @Override
    List<ClaimedRow> claimExpired(Connection connection, int topicId, ClaimRequest request, UUID token)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(CLAIM_EXPIRED))) {
            Binder binder = bind(statement).integer(topicId).integer(request.maxAttempts());
            return claim(statement, binder, topicId, request, token);
        }
    }

    /** Binds what both claims end with. The rows come back in no order of their own: sorted here. */
    private List<ClaimedRow> claim(
            PreparedStatement statement, Binder binder, int topicId, ClaimRequest request, UUID token)
            throws SQLException {
        String[] tenants =
                request.tenants().isEmpty() ? null : request.tenants().toArray(String[]::new);
        for (int i = 0; i < 2; i++) {
            if (tenants == null) {
                binder.text(null);
            } else {
                binder.array("text", tenants);
            }
        }
        binder.integer(topicId)
                .integer(request.limit())
                .number(request.maxBytes())
                .uuid(token)
                .text(request.worker())
                .micros(request.lease());
        List<ClaimedRow> rows = new ArrayList<>();
        try (ResultSet answer = statement.executeQuery()) {
            while (answer.next()) {
                rows.add(ClaimedRow.read(answer, this));
            }
        }
        rows.sort(ClaimedRow.BY_DUE_TIME);
        return rows;
    }

    @Override
    Set<Long> acknowledge(Connection connection, UUID token, Collection<Long> seqs, JdbcOptions.Archive archive)
            throws SQLException {
        boolean off = archive == JdbcOptions.Archive.OFF;
        try (PreparedStatement statement = connection.prepareStatement(sql(off ? DELETE : ARCHIVE))) {
            Binder binder = bind(statement).array("int8", seqs.toArray()).uuid(token);
            if (!off) {
                binder.flag(archive == JdbcOptions.Archive.FULL);
            }
            return seqs(statement);
        }
    }

    @Override
    Set<Long> reschedule(Connection connection, UUID token, List<Rescheduled> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(RESCHEDULE))) {
            bind(statement)
                    .array("int8", rows.stream().map(Rescheduled::seq).toArray())
                    .array(
                            "int8",
                            rows.stream()
                                    .map(row -> Binder.toMicros(row.delay()))
                                    .toArray())
                    .array("text", rows.stream().map(Rescheduled::error).toArray())
                    .uuid(token);
            return seqs(statement);
        }
    }

    @Override
    Set<Long> bury(Connection connection, UUID token, List<BuriedRow> rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(BURY))) {
            bind(statement)
                    .array("int8", rows.stream().map(BuriedRow::seq).toArray())
                    .array("text", rows.stream().map(BuriedRow::reason).toArray())
                    .array("text", rows.stream().map(BuriedRow::error).toArray())
                    .array("text", rows.stream().map(BuriedRow::fingerprint).toArray())
                    .uuid(token);
            return seqs(statement);
        }
    }

    @Override
    Set<Long> release(Connection connection, UUID token, Collection<Long> seqs) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(RELEASE))) {
            bind(statement).array("int8", seqs.toArray()).uuid(token);
            return seqs(statement);
        }
    }

    @Override
    int releaseClaim(Connection connection, int topicId, UUID token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(RELEASE_CLAIM))) {
            bind(statement).integer(topicId).uuid(token);
            return statement.executeUpdate();
        }
    }

    @Override
    Set<Long> extend(Connection connection, UUID token, Collection<Long> seqs, Duration lease) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(EXTEND))) {
            bind(statement).micros(lease).array("int8", seqs.toArray()).uuid(token);
            return seqs(statement);
        }
    }

    private static Set<Long> seqs(PreparedStatement statement) throws SQLException {
        Set<Long> seqs = new HashSet<>();
        try (ResultSet answer = statement.executeQuery()) {
            while (answer.next()) {
                seqs.add(answer.getLong(1));
            }
        }
        return seqs;
    }

    @Override
    Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        String query = sql("SELECT seq, id FROM {message} WHERE seq = ANY (?::bigint[])");
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            bind(statement).array("int8", seqs.toArray());
            Map<Long, UUID> present = new HashMap<>();
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    present.put(answer.getLong(1), answer.getObject(2, UUID.class));
                }
            }
            return present;
        }
    }

    @Override
    int sweep(Connection connection, int topicId, int maxAttempts, BuriedRow epitaph, int limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(SWEEP))) {
            bind(statement)
                    .integer(topicId)
                    .integer(maxAttempts)
                    .integer(limit)
                    .text(epitaph.reason())
                    .text(epitaph.error())
                    .text(epitaph.fingerprint());
            return statement.executeUpdate();
        }
    }

    @Override
    Map<Integer, Long> nextDue(Connection connection, Map<Integer, Instant> from) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(NEXT_DUE))) {
            bind(statement)
                    .array("int4", from.keySet().toArray())
                    .array(
                            "timestamptz",
                            from.values().stream()
                                    .map(PostgresDialect::timestamp)
                                    .toArray());
            Map<Integer, Long> due = new HashMap<>();
            try (ResultSet answer = statement.executeQuery()) {
                while (answer.next()) {
                    long micros = answer.getLong(2);
                    if (!answer.wasNull()) {
                        due.put(answer.getInt(1), micros);
                    }
                }
            }
            return due;
        }
    }

    @Override
    int purgeArchive(Connection connection, Duration age, int limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(PURGE_ARCHIVE))) {
            bind(statement).micros(age).integer(limit);
            return statement.executeUpdate();
        }
    }

    @Override
    int purgeDead(Connection connection, Duration age, int limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(PURGE_DEAD))) {
            bind(statement).micros(age).integer(limit).micros(age);
            return statement.executeUpdate();
        }
    }

    @Override
    int purgeKeys(Connection connection, Duration age, int limit) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql(PURGE_KEYS))) {
            bind(statement).micros(age).integer(limit);
            return statement.executeUpdate();
        }
    }

    /** Data definition is part of the transaction here: a migration is there whole or not at all. */
    @Override
    void migrate(Connection connection, Migration migration) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL lock_timeout = '10s'");
            statement.execute("SELECT pg_advisory_xact_lock("
                    + tables().qualified("schema").hashCode() + ")");
            migration.run(connection);
            connection.commit();
        } catch (SQLException | RuntimeException | Error e) {
            Sessions.rollback(connection, e);
            throw e;
        }
    }

    @Override
    void checkServer(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            try (ResultSet answer =
                    statement.executeQuery("SELECT pg_is_in_recovery(), current_setting('server_encoding')")) {
                answer.next();
                if (answer.getBoolean(1)) {
                    throw new InvalidConfigurationException(
                            "db.url", "leads to a standby, which cannot be written: use the primary's address");
                }
                if (!"UTF8".equals(answer.getString(2))) {
                    throw new InvalidConfigurationException(
                            "db.url",
                            "leads to a database with encoding " + answer.getString(2)
                                    + ", which loses characters: create it" + " with ENCODING 'UTF8'");
                }
            }
            String cache = "SELECT seqcache FROM pg_sequence WHERE seqrelid = '" + tables().qualified("message_seq")
                    + "'::regclass";
            try (ResultSet answer = statement.executeQuery(cache)) {
                if (answer.next() && answer.getLong(1) != 1) {
                    throw new SchemaMismatchException("Sequence " + tables().qualified("message_seq")
                            + " hands out numbers in blocks, which breaks the order of messages. Run: ALTER SEQUENCE "
                            + tables().qualified("message_seq") + " CACHE 1");
                }
            }
        }
    }
}
