package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/** Locks and removes handled messages on PostgreSQL: one statement for each operation, which also limits the idle time. */
final class PostgresHandling implements HandlingStatements {

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
                INSERT INTO {archive} (seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type, payload,
                                       attributes, attempts, crashes, created_at, delivered_at, failed_attempts)
                SELECT seq, id, topic_id, topic, type, tenant, ordering_key, idempotency_key, content_type,
                       CASE WHEN ? THEN payload END, attributes, CASE WHEN lane IS NULL THEN greatest(attempts, 1) ELSE attempts + 1 END, crashes,
                       created_at, statement_timestamp(), failed_attempts
                FROM removed
            )
            """;

    /** Sets the idle limit: a process that is frozen in a handler must not keep its message locked for ever. */
    static final String COUNT_HANDLED = """
            SELECT (SELECT count(*) FROM removed) AS met, set_config('idle_in_transaction_session_timeout', ?, true),
                   pg_backend_pid() AS session_id, pg_current_xact_id()::xid::text AS session_transaction
            """;

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

    static final String PRESENT_AFTER_LOCKS = "SELECT seq, id FROM {message} WHERE seq = ANY (?::bigint[]) FOR UPDATE";

    private final SqlRunner sql;

    PostgresHandling(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException {
        return sql.query(
                connection,
                LOCK_HANDLED,
                binder -> handled(binder.text(Long.toString(idle.toMillis())), rows),
                PostgresHandling::lockedRows);
    }

    private static LockedRows lockedRows(ResultSet rows) throws SQLException {
        Set<Long> numbers = new TreeSet<>();
        SessionStatements.ServerSession session = null;
        while (rows.next()) {
            numbers.add(rows.getLong("seq"));
            session = SessionStatements.ServerSession.read(rows);
        }
        return new LockedRows(numbers, session);
    }

    @Override
    public Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException {
        return sql.query(connection, STILL_HANDLED, binder -> handled(binder, rows), SqlRunner::numbers);
    }

    @Override
    public RemovedRows removeHandled(
            Connection connection, List<HandledRow> rows, TableOptions.Archive archive, Duration idle)
            throws SQLException {
        boolean kept = archive != TableOptions.Archive.OFF;
        boolean one = rows.size() == 1;
        String many = kept ? REMOVE_AND_ARCHIVE_HANDLED : REMOVE_HANDLED_ONLY;
        String single = kept ? REMOVE_AND_ARCHIVE_ONE_HANDLED : REMOVE_ONE_HANDLED_ONLY;
        return sql.query(
                connection,
                one ? single : many,
                binder -> {
                    if (one) {
                        handled(binder, rows.get(0));
                    } else {
                        handled(binder, rows);
                    }
                    if (kept) {
                        binder.flag(archive == TableOptions.Archive.FULL);
                    }
                    binder.text(Long.toString(idle.toMillis()));
                },
                answer -> {
                    answer.next();
                    return new RemovedRows(answer.getInt("met"), SessionStatements.ServerSession.read(answer));
                });
    }

    private static String stateList(HandledRow row) {
        return row.states().stream().map(RowState::name).collect(Collectors.joining(","));
    }

    private static void handled(Binder binder, HandledRow row) throws SQLException {
        binder.number(row.seq()).uuid(row.id()).uuidOrNone(row.token()).text(stateList(row));
    }

    private static Binder handled(Binder binder, List<HandledRow> rows) throws SQLException {
        return binder.array("int8", rows.stream().map(HandledRow::seq).toArray())
                .array("uuid", rows.stream().map(HandledRow::id).toArray())
                .array("uuid", rows.stream().map(HandledRow::token).toArray())
                .array("text", rows.stream().map(row -> stateList(row)).toArray());
    }

    @Override
    public Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException {
        return sql.query(
                connection, PRESENT_AFTER_LOCKS, binder -> binder.array("int8", seqs.toArray()), sql::numbersWithIds);
    }
}
