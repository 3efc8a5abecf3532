package dev.postrider.jdbc;

import dev.postrider.jdbc.SimulatedSql.Answer;
import dev.postrider.jdbc.SimulatedSql.Parameters;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;

/** What the statements of {@link JdbcCommandAdmin} do to the simulated command table: those that an operator needs in a run. */
final class SimulatedCommandAdmin {

    private final SimulatedDatabase database;
    private final CommandTable table;

    SimulatedCommandAdmin(SimulatedDatabase database) {
        this.database = database;
        this.table = new CommandTable(database);
    }

    void addTo(SimulatedSql known) {
        known.add(
                JdbcCommandAdmin.UNCERTAIN,
                "list commands",
                (session, transaction, values) ->
                        Answer.rows(table.rowsWhere(transaction, row -> row.state.equals("UNCERTAIN"))));
        known.add(JdbcCommandAdmin.FIND, "find a command by its reference", (session, transaction, values) -> {
            UUID reference = values.uuid();
            return Answer.rows(table.rowsWhere(transaction, row -> row.reference.equals(reference)));
        });
        known.add(JdbcCommandAdmin.COMPLETE, "say that a command is done", this::complete);
        known.add(JdbcCommandAdmin.RELEASE, "give a key free", this::release);
        known.add(JdbcCommandAdmin.AUDIT, "write the audit", (session, transaction, values) -> Answer.changed(true));
    }

    private Answer complete(Session session, Transaction transaction, Parameters values) throws SQLException {
        UUID noOwner = values.uuid();
        long keyTtl = values.number();
        values.number();
        Predicate<CommandState> condition = isOpen(values.uuid());
        boolean met = false;
        for (CommandState open : open(transaction, condition)) {
            met |= table.update(session, transaction, open.id, condition, row -> {
                row.owner = noOwner;
                row.fence++;
                row.state = "COMPLETED";
                row.outcome = "SUCCESS";
                row.resultKind = "DROPPED";
                row.steps = null;
                row.keyUntil = Math.max(row.keyUntil, database.micros() + keyTtl);
            });
        }
        return Answer.changed(met);
    }

    private Answer release(Session session, Transaction transaction, Parameters values) throws SQLException {
        Predicate<CommandState> condition = isOpen(values.uuid());
        boolean met = false;
        for (CommandState open : open(transaction, condition)) {
            met |= table.delete(session, transaction, open.id, condition);
        }
        return Answer.changed(met);
    }

    /** A reference is one command's. */
    private List<CommandState> open(Transaction transaction, Predicate<CommandState> condition) {
        return table.seenWhere(transaction, condition);
    }

    private Predicate<CommandState> isOpen(UUID reference) {
        return row -> row.reference.equals(reference)
                && (row.state.equals("UNCERTAIN") || (row.isInProgress() && row.leaseUntil <= database.micros()));
    }
}
