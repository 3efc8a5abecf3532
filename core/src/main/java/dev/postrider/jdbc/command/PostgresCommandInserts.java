package dev.postrider.jdbc.command;

import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.SessionStatements;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Inserts commands on PostgreSQL, where one statement can return the existing row. */
public final class PostgresCommandInserts implements CommandInserts {

    /** Returns no row if the command exists. The conflict does not abort the caller's transaction. */
    public static final String INSERT_COMMAND = INSERT + "ON CONFLICT (id) DO NOTHING RETURNING " + CommandRow.COLUMNS;

    /**
     * Inserts a command or returns the existing row. Returns no row if the existing one is too new for the snapshot of this statement.
     * The returned row may have changed since, so every later write checks its fence.
     */
    public static final String INSERT_OR_FIND_COMMAND =
            "WITH inserted AS (" + INSERT_COMMAND + ") SELECT * FROM inserted UNION ALL SELECT " + CommandRow.COLUMNS
                    + " FROM {command} WHERE id = ? AND NOT EXISTS (SELECT FROM inserted)";

    private final SqlRunner sql;

    PostgresCommandInserts(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Optional<CommandRecord> insertCommand(Connection connection, SqlRunner.Bind bind) throws SQLException {
        return sql.query(connection, INSERT_COMMAND, bind, rows -> CommandRow.first(rows, sql));
    }

    /**
     * Sends two statements in one round trip. Both are one transaction, and the lock timeout ends with it. A timeout that the second
     * statement sets itself would come too late for its table lock.
     */
    @Override
    public Optional<CommandRecord> insertCommandAlone(
            Connection connection, CommandId id, SqlRunner.Bind bind, Duration lockTimeout) throws SQLException {
        String both = "SELECT set_config('lock_timeout', ?, true);\n" + INSERT_OR_FIND_COMMAND;
        try (PreparedStatement prepared = connection.prepareStatement(sql.sql(both))) {
            Binder binder = sql.bind(prepared).text(SessionStatements.lockTimeout(lockTimeout));
            bind.to(binder);
            binder.bytes(id.bytes());
            prepared.execute();
            prepared.getMoreResults();
            try (ResultSet rows = prepared.getResultSet()) {
                return CommandRow.first(rows, sql);
            }
        }
    }
}
