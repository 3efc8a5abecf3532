package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.RowState;
import dev.postrider.jdbc.sql.SessionStatements;
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
import org.jspecify.annotations.Nullable;

/** The statements of the transaction of a handler: it locks the rows of its messages, and removes them. */
interface HandlingStatements {

    /**
     * A row to be handled. The row is available while it has this id, this token (none for a row of a lane) and one of these states.
     */
    record HandledRow(long seq, UUID id, @Nullable UUID token, Set<RowState> states) {}

    /** The numbers of the locked rows, and the session that locked them; the session is null when no row was found. */
    record LockedRows(Set<Long> seqs, SessionStatements.@Nullable ServerSession session) {}

    /** The number of removed rows, and the session that removed them; the session is null when no row was found. */
    record RemovedRows(int count, SessionStatements.@Nullable ServerSession session) {}

    /**
     * Locks the rows that are still available and that no other transaction has locked.
     *
     * @param idle how long the transaction may be idle before the server ends it, where the database can do so: the process may be frozen
     */
    LockedRows lockHandled(Connection connection, List<HandledRow> rows, Duration idle) throws SQLException;

    /** Removes the rows that are still available and that no other transaction has locked. */
    RemovedRows removeHandled(Connection connection, List<HandledRow> rows, TableOptions.Archive archive, Duration idle)
            throws SQLException;

    /** Finds the numbers of the rows that are still available, locked or not. */
    Set<Long> stillHandled(Connection connection, List<HandledRow> rows) throws SQLException;

    /** Finds the rows with these numbers after all transactions that are changing them have ended. Returns their ids by number. */
    Map<Long, UUID> presentAfterLocks(Connection connection, Collection<Long> seqs) throws SQLException;

    static HandlingStatements of(SqlRunner sql) {
        return sql.kind() == DatabaseKind.POSTGRESQL ? new PostgresHandling(sql) : new InnoDbHandling(sql);
    }
}
