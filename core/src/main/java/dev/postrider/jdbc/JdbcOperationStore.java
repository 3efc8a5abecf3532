package dev.postrider.jdbc;

import dev.postrider.admin.OperationState;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.internal.ErrorText;
import dev.postrider.internal.store.OperationStore;
import dev.postrider.jdbc.outbox.Topics;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Background operations over JDBC. A step has three transactions: the election, the search, and the change. The change begins with a lock of
 * the operation under the token of the election, and ends with the progress. So a step of a node that was replaced, or whose operation was
 * cancelled, changes nothing, and a step whose node dies is made again by another one, from the same place. Thread-safe.
 */
final class JdbcOperationStore implements OperationStore {

    private static final Logger log = LoggerFactory.getLogger(JdbcOperationStore.class);

    /** How many steps in a row may fail. */
    private static final int MOST_FAILURES = 10;

    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(5);
    private static final Duration NONE_OPEN = Duration.ofHours(1);
    private static final Duration OTHER_NODE = Duration.ofSeconds(1);
    private static final int ERROR_LIMIT = 1000;

    private final Sessions sessions;
    private final Supplier<UUID> ids;
    private final OperationTable table;
    private final AuditLog audit;
    private final OperationWork steps;
    private final Runnable changed;

    /** @param changed called after each change that may let a message be delivered */
    JdbcOperationStore(Sessions sessions, SqlRunner sql, Topics topics, Supplier<UUID> ids, Runnable changed) {
        this.sessions = sessions;
        this.ids = ids;
        this.table = new OperationTable(sql);
        this.audit = new AuditLog(sql);
        this.steps = new OperationWork(sessions, sql, new MessageSearch(sql, topics), audit);
        this.changed = changed;
    }

    @Override
    public OperationStep step(String node, Duration lease) {
        Duration next = sessions.statement("find operations", table::next).orElse(NONE_OPEN);
        return next.isZero() ? stepOfDue(node, lease) : new OperationStep(null, false, next);
    }

    private OperationStep stepOfDue(String node, Duration lease) {
        UUID token = ids.get();
        Optional<OperationRow> elected = sessions.transaction(
                "elect a node for an operation", connection -> table.elect(connection, token, node, lease));
        if (elected.isEmpty()) {
            return new OperationStep(null, false, OTHER_NODE); // another node makes a step
        }
        OperationRow row = elected.get();
        step(row, token);
        OperationRow after = sessions.statement("read an operation", connection -> table.find(connection, row.id()))
                .orElse(row);
        return new OperationStep(after.operation(), isFirst(row), Duration.ZERO);
    }

    private static boolean isFirst(OperationRow row) {
        return row.reached() == null && row.failures() == 0;
    }

    private void step(OperationRow row, UUID token) {
        try {
            int done = work(row, token);
            if (done > 0) {
                changed.run();
            }
        } catch (StoreUnavailableException | TransactionConflictException e) {
            throw e; // nothing was changed: the step is made again when the time of this one is over
        } catch (IllegalArgumentException e) {
            failed(row, token, MOST_FAILURES, e); // this version cannot read the filter
        } catch (RuntimeException e) {
            failed(row, token, row.failures() + 1, e);
        }
    }

    /** Returns how many messages were changed. */
    private int work(OperationRow row, UUID token) {
        OperationWork.StepWork work = steps.find(row);
        return sessions.transaction(row.operation().action().name(), connection -> {
            if (!table.lockOwn(connection, row.id(), token)) {
                log.debug("Operation {} was cancelled, or another node makes this step", row.id());
                return 0;
            }
            int done = work.found() == 0 ? 0 : work.change().in(connection);
            table.advance(
                    connection,
                    row.id(),
                    token,
                    new OperationTable.StepProgress(
                            work.next(), done, work.found() - done, row.pauseAfter(work.found())));
            if (work.next() == null || row.isLast(work.found())) {
                end(connection, row.id(), token, OperationState.COMPLETED, null);
            }
            return done;
        });
    }

    private void end(Connection connection, long id, UUID token, OperationState state, @Nullable String error)
            throws SQLException {
        SqlRunner.expect(1, table.end(connection, id, token, state, error) ? 1 : 0, "end an operation");
        OperationRow ended = table.find(connection, id).orElseThrow();
        audit.record(connection, ended.by(), "END_OPERATION", ended);
    }

    /** The operation is tried again after a pause, unless it has failed too often. */
    private void failed(OperationRow row, UUID token, int failures, RuntimeException e) {
        log.debug("A step of operation {} failed", row.id(), e);
        String error = ErrorText.clean(ErrorText.of(e), ERROR_LIMIT);
        sessions.transaction("record a failed step", connection -> {
            if (!table.lockOwn(connection, row.id(), token)) {
                return false;
            }
            if (failures >= MOST_FAILURES) {
                end(connection, row.id(), token, OperationState.FAILED, error);
                return true;
            }
            return table.fail(connection, row.id(), token, error, PAUSE_AFTER_FAILURE);
        });
    }
}
