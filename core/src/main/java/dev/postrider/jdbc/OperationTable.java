package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationState;
import dev.postrider.admin.OperationTerms;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of background operations. A node that makes a step has the operation's token, until the time of the step is
 * over; every change of the progress checks the token and the state. Stateless, thread-safe.
 */
final class OperationTable {

    private static final String INSERT = """
            INSERT INTO {operation} (action, filter_json, operator, reason, message_limit, per_second, state, token, until, created_at,
                                     updated_at)
            VALUES (?, ?, ?, ?, ?, ?, 'WAITING', ?, {now}, {now}, {now})
            """;

    private static final String BY_TOKEN = "SELECT * FROM {operation} WHERE token = ? AND state = 'WAITING'";

    private static final String BY_ID = "SELECT * FROM {operation} WHERE id = ?";

    private static final String LIST = "SELECT * FROM {operation} WHERE id < ? ORDER BY id DESC LIMIT ?";

    private static final String COUNT_OPEN = "SELECT COUNT(*) FROM {operation} WHERE ended_at IS NULL";

    private static final String PURGE = "DELETE FROM {operation} WHERE ended_at < {ago}";

    /** Skips an operation that another node is electing itself for, or makes a step of. */
    static final String LOCK_DUE = """
            SELECT id FROM {operation} WHERE ended_at IS NULL AND until <= {now}
            ORDER BY until LIMIT 1 FOR UPDATE SKIP LOCKED
            """;

    static final String ELECT = """
            UPDATE {operation} SET token = ?, node = ?, until = {later}, state = 'RUNNING', started_at = COALESCE(started_at, {now})
            WHERE id = ? AND ended_at IS NULL AND until <= {now}
            """;

    /** The first statement of a step. It waits for an operator who is cancelling the operation. */
    static final String LOCK_OWN =
            "SELECT id FROM {operation} WHERE id = ? AND token = ? AND state = 'RUNNING' FOR UPDATE";

    /** The last statement of a step. */
    static final String ADVANCE = """
            UPDATE {operation}
            SET reached = ?, changed = changed + ?, skipped = skipped + ?, failures = 0, error = NULL, until = {later}, updated_at = {now}
            WHERE id = ? AND token = ? AND state = 'RUNNING'
            """;

    static final String END = """
            UPDATE {operation} SET state = ?, error = ?, ended_at = {now}, updated_at = {now}
            WHERE id = ? AND token = ? AND state = 'RUNNING'
            """;

    private static final String FAIL = """
            UPDATE {operation} SET failures = failures + 1, error = ?, until = {later}, updated_at = {now}
            WHERE id = ? AND token = ? AND state = 'RUNNING'
            """;

    static final String CANCEL = """
            UPDATE {operation} SET state = 'CANCELLED', ended_at = {now}, updated_at = {now} WHERE id = ? AND ended_at IS NULL
            """;

    private static final String NEXT =
            "SELECT MIN(o.until) AS first_due, {now} AS now FROM {operation} o WHERE o.ended_at IS NULL";

    private final SqlRunner sql;

    OperationTable(SqlRunner sql) {
        this.sql = sql;
    }

    /** @param token a new one, by which the row is found again */
    OperationRow insert(Connection connection, Action action, Filter filter, OperationTerms terms, UUID token)
            throws SQLException {
        int inserted = sql.update(connection, INSERT, binder -> {
            Integer rate = terms.perSecond();
            binder.text(action.name())
                    .text(filter.toJson())
                    .text(terms.operator())
                    .text(terms.reason())
                    .numberOrNone(terms.limit())
                    .numberOrNone(rate == null ? null : rate.longValue())
                    .uuid(token);
        });
        SqlRunner.expect(1, inserted, "start an operation");
        return one(connection, BY_TOKEN, binder -> binder.uuid(token)).orElseThrow();
    }

    Optional<OperationRow> find(Connection connection, long id) throws SQLException {
        return one(connection, BY_ID, binder -> binder.number(id));
    }

    private Optional<OperationRow> one(Connection connection, String select, SqlRunner.Bind bind) throws SQLException {
        return sql.query(
                connection,
                select,
                bind,
                row -> row.next() ? Optional.of(OperationRow.read(row, sql)) : Optional.empty());
    }

    List<Operation> list(Connection connection, long before, int limit) throws SQLException {
        return sql.query(connection, LIST, binder -> binder.number(before).integer(limit), rows -> {
            List<Operation> operations = new ArrayList<>();
            while (rows.next()) {
                operations.add(OperationRow.read(rows, sql).operation());
            }
            return operations;
        });
    }

    int countOpen(Connection connection) throws SQLException {
        return sql.query(connection, COUNT_OPEN, binder -> {}, row -> {
            row.next();
            return row.getInt(1);
        });
    }

    /** Removes operations that ended longer ago than this. */
    void purge(Connection connection, Duration retention) throws SQLException {
        sql.update(connection, PURGE, binder -> binder.micros(retention));
    }

    /** Elects a node for the next step of the operation that is due for the longest time. Empty if none is due. */
    Optional<OperationRow> elect(Connection connection, UUID token, String node, Duration lease) throws SQLException {
        Optional<Long> due = sql.query(
                connection,
                LOCK_DUE,
                binder -> {},
                row -> row.next() ? Optional.of(row.getLong("id")) : Optional.empty());
        if (due.isEmpty()) {
            return Optional.empty();
        }
        int elected = sql.update(
                connection,
                ELECT,
                binder -> binder.uuid(token).text(node).micros(lease).number(due.get()));
        return elected == 1 ? find(connection, due.get()) : Optional.empty();
    }

    /** Locks an operation whose token a node has. Returns false if it has lost it, or the operation has ended. */
    boolean lockOwn(Connection connection, long id, UUID token) throws SQLException {
        return sql.query(connection, LOCK_OWN, binder -> binder.number(id).uuid(token), ResultSet::next);
    }

    /**
     * What one step did.
     *
     * @param reached the cursor up to which the messages are done; null if it was the last step
     * @param pause the time until the next step
     */
    record StepProgress(@Nullable String reached, int changed, int skipped, Duration pause) {}

    void advance(Connection connection, long id, UUID token, StepProgress progress) throws SQLException {
        int met = sql.update(
                connection,
                ADVANCE,
                binder -> binder.text(progress.reached())
                        .number(progress.changed())
                        .number(progress.skipped())
                        .micros(progress.pause())
                        .number(id)
                        .uuid(token));
        SqlRunner.expect(1, met, "write the progress of an operation");
    }

    /** Ends an operation whose token a node has. Returns false if the operation has ended, or another node has it. */
    boolean end(Connection connection, long id, UUID token, OperationState state, @Nullable String error)
            throws SQLException {
        return sql.update(
                        connection,
                        END,
                        binder ->
                                binder.text(state.name()).text(error).number(id).uuid(token))
                == 1;
    }

    boolean fail(Connection connection, long id, UUID token, String error, Duration pause) throws SQLException {
        return sql.update(
                        connection,
                        FAIL,
                        binder -> binder.text(error).micros(pause).number(id).uuid(token))
                == 1;
    }

    /** Returns false if there is no such operation, or it has ended. */
    boolean cancel(Connection connection, long id) throws SQLException {
        return sql.update(connection, CANCEL, binder -> binder.number(id)) == 1;
    }

    /** Returns the time until an operation is due; empty if none is open. */
    Optional<Duration> next(Connection connection) throws SQLException {
        return sql.query(connection, NEXT, binder -> {}, row -> {
            row.next();
            Instant due = sql.readTime(row, "first_due");
            Instant now = sql.readTime(row, "now");
            if (due == null || now == null) {
                return Optional.empty();
            }
            Duration left = Duration.between(now, due);
            return Optional.of(left.isNegative() ? Duration.ZERO : left);
        });
    }
}
