package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.DatabaseKind;
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

/**
 * The statements that write the outcomes of many claims at once. Each method returns the rows that were still leased under their tokens.
 * None waits for a locked row: such a row is left out.
 */
interface OutcomeStatements {

    /**
     * A message whose delivery failed, to be attempted again after the delay.
     *
     * @param attempt its entry in the history of the message, of {@link AttemptHistory}
     */
    record Rescheduled(LeasedRow row, Duration delay, String error, String attempt) {}

    /** A row that is due after the delay, and was not attempted. */
    record Postponed(LeasedRow row, Duration delay, String error) {}

    /** @param attempt its entry in the history of the message, of {@link AttemptHistory} */
    record BuriedRow(LeasedRow row, DeathRecord epitaph, String attempt) {}

    Set<LeasedRow> acknowledge(Connection connection, List<LeasedRow> rows, TableOptions.Archive archive)
            throws SQLException;

    Set<LeasedRow> reschedule(Connection connection, List<Rescheduled> rows) throws SQLException;

    /** As {@link #reschedule}, but the attempt does not count and is not in the history of the message. */
    Set<LeasedRow> postpone(Connection connection, List<Postponed> rows) throws SQLException;

    Set<LeasedRow> bury(Connection connection, List<BuriedRow> rows) throws SQLException;

    Set<LeasedRow> release(Connection connection, List<LeasedRow> rows) throws SQLException;

    Set<LeasedRow> extend(Connection connection, List<LeasedRow> rows, Duration lease) throws SQLException;

    /** Finds the rows that are leased under their tokens, including rows that an outcome skipped because they are locked. */
    Set<LeasedRow> stillLeased(Connection connection, List<LeasedRow> rows) throws SQLException;

    /** Finds the rows with these numbers that are still in the table. Returns their ids by number. */
    Map<Long, UUID> present(Connection connection, Collection<Long> seqs) throws SQLException;

    static OutcomeStatements of(SqlRunner sql) {
        return sql.kind() == DatabaseKind.POSTGRESQL ? new PostgresOutcomes(sql) : new InnoDbOutcomes(sql);
    }
}
