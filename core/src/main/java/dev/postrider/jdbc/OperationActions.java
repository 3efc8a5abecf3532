package dev.postrider.jdbc;

import dev.postrider.admin.Action;
import dev.postrider.admin.Change;
import dev.postrider.admin.Filter;
import dev.postrider.admin.Operation;
import dev.postrider.admin.OperationTerms;
import dev.postrider.admin.Repair;
import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** What operators do with background operations: start, list and cancel them. Thread-safe. */
final class OperationActions {

    private static final int MOST_OPEN = 100;

    /** How long ended operations are listed. */
    private static final Duration RETENTION = Duration.ofDays(90);

    private final Sessions sessions;
    private final OperationTable table;
    private final AuditLog audit;
    private final FilteredRedelivery redelivery;

    OperationActions(Sessions sessions, SqlRunner sql, AuditLog audit, FilteredRedelivery redelivery) {
        this.sessions = sessions;
        this.table = new OperationTable(sql);
        this.audit = audit;
        this.redelivery = redelivery;
    }

    Operation start(Action action, Filter filter, OperationTerms terms) {
        Filter selected = action.isRedelivery()
                ? redelivery.selected(action, filter, null)
                : filter.states(FilteredActions.states(action, filter, null));
        UUID token = UUID.randomUUID();
        return sessions.transaction("start an operation", connection -> {
            table.purge(connection, RETENTION);
            if (table.countOpen(connection) >= MOST_OPEN) {
                throw new InvalidConfigurationException(
                        "operations", "of " + MOST_OPEN + " are waiting or running: wait for one, or cancel it");
            }
            OperationRow started = table.insert(connection, action, selected, terms, token);
            audit.record(connection, started.by(), "START_OPERATION", started);
            return started.operation();
        });
    }

    List<Operation> list(Connection connection, long before, int limit) throws SQLException {
        return table.list(connection, before, limit);
    }

    Optional<Operation> find(Connection connection, long id) throws SQLException {
        return table.find(connection, id).map(OperationRow::operation);
    }

    Repair cancel(long id, Change by) {
        return sessions.transaction("cancel an operation", connection -> {
            boolean cancelled = table.cancel(connection, id);
            Optional<OperationRow> found = table.find(connection, id);
            if (found.isEmpty()) {
                return Repair.NOT_FOUND;
            }
            if (cancelled) {
                audit.record(connection, by, "CANCEL_OPERATION", found.get());
            }
            return cancelled ? Repair.DONE : Repair.WRONG_STATE;
        });
    }
}
