package dev.postrider.jdbc.outbox;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The statements that write messages in a transaction of the caller, and find those that were written before. */
public interface InsertStatements {

    /**
     * Inserts the rows and their marks in the given order. A row whose key or id exists already is left out, and so is its mark.
     *
     * @param rows two rows with the same id are the same message
     * @param leasedInsert the rows to insert under a lease unless their topic is paused; records the rows that were
     * @return the ids of the inserted rows
     */
    Set<UUID> insert(Connection connection, List<NewRow> rows, @Nullable LeasedInsert leasedInsert) throws SQLException;

    /** Finds the first use of each of these idempotency keys. A key that became free meanwhile is not in the result. */
    Map<NewRow.Mark, FirstUse> firstUses(Connection connection, Collection<NewRow.Mark> marks) throws SQLException;

    /** Finds the live messages with these ids. */
    Map<UUID, LiveMessage> live(Connection connection, Collection<UUID> ids) throws SQLException;

    static InsertStatements of(SqlRunner sql, boolean batchesAtOnce) {
        return switch (sql.kind()) {
            case POSTGRESQL -> new PostgresInserts(sql);
            case MYSQL -> new InnoDbInserts(sql, false);
            case MARIADB -> new InnoDbInserts(sql, batchesAtOnce);
            case H2 -> new H2Inserts(sql);
        };
    }
}
