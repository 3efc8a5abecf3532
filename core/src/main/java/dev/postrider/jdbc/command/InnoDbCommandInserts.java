package dev.postrider.jdbc.command;

import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Inserts commands on MySQL, MariaDB and H2. The row is read by a second statement. */
final class InnoDbCommandInserts implements CommandInserts {

    /**
     * Takes an exclusive lock on an existing row at once. In a transaction of the caller, a plain INSERT that fails keeps a shared lock on
     * the row. Two transactions with such a lock run into a deadlock when the first inserter rolls back.
     */
    private static final String INSERT_OR_LOCK = INSERT + "ON DUPLICATE KEY UPDATE fence = fence";

    private final SqlRunner sql;

    InnoDbCommandInserts(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Optional<CommandRecord> insertCommand(Connection connection, SqlRunner.Bind bind) throws SQLException {
        if (sql.kind().isInnoDb()) {
            sql.update(connection, INSERT_OR_LOCK, bind);
        } else {
            insertUnlessThere(connection, bind);
        }
        return Optional.empty();
    }

    @Override
    public Optional<CommandRecord> insertCommandAlone(
            Connection connection, CommandId id, SqlRunner.Bind bind, Duration lockTimeout) throws SQLException {
        insertUnlessThere(connection, bind);
        return Optional.empty();
    }

    /** Inserts the row unless it exists. On these databases a duplicate key rolls back only its own statement. */
    private void insertUnlessThere(Connection connection, SqlRunner.Bind bind) throws SQLException {
        try {
            sql.update(connection, INSERT, bind);
        } catch (SQLException e) {
            if (!SqlErrors.isDuplicateKey(e)) {
                throw e;
            }
        }
    }
}
