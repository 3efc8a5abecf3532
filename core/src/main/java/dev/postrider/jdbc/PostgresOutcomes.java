package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Outcomes on PostgreSQL: one statement for each kind of outcome, with arrays of numbers and tokens. */
final class PostgresOutcomes implements OutcomeStatements {

    // An outcome statement changes rows of many claims, each row with its own token. It checks the token and not the
    // state: every statement that changes the state keeps the rule that a row has a token exactly while it is
    // PROCESSING
    // (the contracts check it after each test). With the state in the condition, the planner could scan all leased rows
    // instead of looking up the numbers. A row inserted by local
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

    /** The rows of one statement get one time of delivery, so that their numbers order them in the archive as they do in a lane. */
    static final String ARCHIVE = """
            WITH mine AS MATERIALIZED (
                SELECT seq FROM {message}
                WHERE seq = ANY (?::bigint[]) AND (seq, lease_token) IN (SELECT * FROM unnest(?::bigint[], ?::uuid[]))
                FOR UPDATE SKIP LOCKED
            ), done AS (
                DELETE FROM {message} WHERE seq = ANY (ARRAY(SELECT seq FROM mine))
                RETURNING *
            ), kept AS (
                INSERT INTO {archive} (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                       attributes, attempts, crashes, created_at, delivered_at, failed_attempts)
                SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, attributes, greatest(attempts, 1), crashes, created_at, statement_timestamp(),
                       failed_attempts
                FROM done
            )
            SELECT seq, lease_token FROM done
            """;

    static final String RESCHEDULE = """
            WITH mine AS MATERIALIZED (
                SELECT failed.*
                FROM unnest(?::bigint[], ?::uuid[], ?::bigint[], ?::text[], ?::text[])
                         AS failed (seq, lease_token, delay, error, attempt)
                JOIN {message} AS m ON m.seq = failed.seq AND m.lease_token = failed.lease_token
                FOR UPDATE OF m SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'PENDING', attempts = greatest(attempts, 1),
                available_at = clock_timestamp() + failed.delay * interval '1 microsecond', last_error = failed.error,
                failed_attempts = left(concat(to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                              failed.attempt, m.failed_attempts), 4000),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            FROM mine AS failed
            WHERE m.seq = failed.seq AND m.lease_token = failed.lease_token
            RETURNING failed.seq, failed.lease_token
            """;

    static final String POSTPONE = """
            WITH mine AS MATERIALIZED (
                SELECT waits.*
                FROM unnest(?::bigint[], ?::uuid[], ?::bigint[], ?::text[]) AS waits (seq, lease_token, delay, error)
                JOIN {message} AS m ON m.seq = waits.seq AND m.lease_token = waits.lease_token
                FOR UPDATE OF m SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'PENDING', attempts = greatest(attempts - 1, 0),
                available_at = clock_timestamp() + waits.delay * interval '1 microsecond', last_error = waits.error,
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
            FROM mine AS waits
            WHERE m.seq = waits.seq AND m.lease_token = waits.lease_token
            RETURNING waits.seq, waits.lease_token
            """;

    static final String BURY = """
            WITH mine AS MATERIALIZED (
                SELECT dead.*
                FROM unnest(?::bigint[], ?::uuid[], ?::text[], ?::text[], ?::text[], ?::text[])
                         AS dead (seq, lease_token, reason, error, fingerprint, attempt)
                JOIN {message} AS m ON m.seq = dead.seq AND m.lease_token = dead.lease_token
                FOR UPDATE OF m SKIP LOCKED
            )
            UPDATE {message} AS m
            SET state = 'DEAD',
                attempts = CASE WHEN dead.reason = 'EXPIRED' THEN greatest(attempts - 1, 0) ELSE greatest(attempts, 1) END,
                reason = dead.reason, last_error = dead.error, fingerprint = dead.fingerprint,
                failed_attempts = left(concat(to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
                                              dead.attempt, m.failed_attempts), 4000),
                lease_token = NULL, locked_by = NULL, locked_until = NULL, updated_at = clock_timestamp()
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

    static final String PRESENT = "SELECT seq, id FROM {message} WHERE seq = ANY (?::bigint[])";

    private final SqlRunner sql;

    PostgresOutcomes(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, TableOptions.Archive archive)
            throws SQLException {
        if (archive == TableOptions.Archive.OFF) {
            return sql.query(connection, DELETE, binder -> lookUp(binder, rows), LeasedRow.reader(sql));
        }
        boolean withPayload = archive == TableOptions.Archive.FULL;
        return sql.query(connection, ARCHIVE, binder -> lookUp(binder, rows).flag(withPayload), LeasedRow.reader(sql));
    }

    @Override
    public Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException {
        List<LeasedRow> held = rows.stream().map(Rescheduled::row).toList();
        return sql.query(
                connection,
                RESCHEDULE,
                binder -> held(binder, held)
                        .array(
                                "int8",
                                rows.stream()
                                        .map(row -> Binder.toMicros(row.delay()))
                                        .toArray())
                        .array("text", rows.stream().map(Rescheduled::error).toArray())
                        .array("text", rows.stream().map(Rescheduled::attempt).toArray()),
                LeasedRow.reader(sql));
    }

    @Override
    public Set<LeasedRow> postpone(Connection connection, List<Postponed> rows) throws SQLException {
        List<LeasedRow> held = rows.stream().map(Postponed::row).toList();
        return sql.query(
                connection,
                POSTPONE,
                binder -> held(binder, held)
                        .array(
                                "int8",
                                rows.stream()
                                        .map(row -> Binder.toMicros(row.delay()))
                                        .toArray())
                        .array("text", rows.stream().map(Postponed::error).toArray()),
                LeasedRow.reader(sql));
    }

    @Override
    public Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException {
        List<LeasedRow> held = rows.stream().map(BuriedRow::row).toList();
        List<DeathRecord> epitaphs = rows.stream().map(BuriedRow::epitaph).toList();
        return sql.query(
                connection,
                BURY,
                binder -> held(binder, held)
                        .array(
                                "text",
                                epitaphs.stream().map(DeathRecord::reason).toArray())
                        .array("text", epitaphs.stream().map(DeathRecord::error).toArray())
                        .array(
                                "text",
                                epitaphs.stream().map(DeathRecord::fingerprint).toArray())
                        .array("text", rows.stream().map(BuriedRow::attempt).toArray()),
                LeasedRow.reader(sql));
    }

    @Override
    public Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException {
        return sql.query(connection, RELEASE, binder -> held(binder, rows), LeasedRow.reader(sql));
    }

    @Override
    public Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException {
        return sql.query(connection, EXTEND, binder -> lookUp(binder, rows).micros(lease), LeasedRow.reader(sql));
    }

    @Override
    public Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException {
        return sql.query(connection, STILL_LEASED, binder -> lookUp(binder, rows), LeasedRow.reader(sql));
    }

    /** Binds the numbers for the index, and then each number with its token. */
    private static Binder lookUp(Binder binder, List<LeasedRow> rows) throws SQLException {
        return held(binder.array("int8", rows.stream().map(LeasedRow::seq).toArray()), rows);
    }

    private static Binder held(Binder binder, List<LeasedRow> rows) throws SQLException {
        return binder.array("int8", rows.stream().map(LeasedRow::seq).toArray())
                .array("uuid", rows.stream().map(LeasedRow::token).toArray());
    }

    @Override
    public Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException {
        return sql.query(connection, PRESENT, binder -> binder.array("int8", seqs.toArray()), sql::numbersWithIds);
    }
}
