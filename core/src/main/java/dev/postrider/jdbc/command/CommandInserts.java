package dev.postrider.jdbc.command;

import dev.postrider.internal.store.CommandId;
import dev.postrider.internal.store.CommandRecord;
import dev.postrider.jdbc.sql.DatabaseKind;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** The statements that insert a command. They are the only statements of commands that differ between databases. */
public interface CommandInserts {

    /** Inserts without a SELECT before it: of many concurrent callers, the primary key admits one. */
    String INSERT = """
            INSERT INTO {command} (id, reference, operation, tenant, caller, key_prefix, state, owner, fence, lease_micros,
                lease_until, uncertain_if_lost, effect_started, attempts, fingerprint, fingerprint_version, created_at, updated_at,
                key_expires_at)
            VALUES (?, ?, ?, ?, ?, ?, 'IN_PROGRESS', ?, 1, ?, {later}, ?, FALSE, 1, ?, ?, {now}, {now}, {later})
            """;

    /**
     * Inserts the row of a command unless the row exists. An existing row is not an error. Runs in a transaction: its writes may still be
     * rolled back, and its snapshot may be older than the newest row.
     *
     * @return the row, new or existing, if the statement returns it; empty when it must be read
     */
    Optional<CommandRecord> insertCommand(Connection connection, SqlRunner.Bind bind) throws SQLException;

    /**
     * Does the same by a statement that is a transaction of its own.
     *
     * @param lockTimeout how long the statement may wait for a lock, where {@link Sessions#limited} does not limit it
     */
    Optional<CommandRecord> insertCommandAlone(
            Connection connection, CommandId id, SqlRunner.Bind bind, Duration lockTimeout) throws SQLException;

    static CommandInserts of(SqlRunner sql) {
        return sql.kind() == DatabaseKind.POSTGRESQL ? new PostgresCommandInserts(sql) : new InnoDbCommandInserts(sql);
    }
}
