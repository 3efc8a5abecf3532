package dev.postrider.jdbc.command;

import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.jdbc.sql.ValueList;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Purges old results and keys of commands, and makes lost commands uncertain. Thread-safe. */
public final class CommandSweep {

    // The purge has two stages. The first statement locks rows in the order of an index. The second changes these rows
    // and repeats the condition.

    public static final String LOCK_OLD_RESULTS = """
            SELECT id FROM {command} WHERE result_expires_at <= {now}
            ORDER BY result_expires_at LIMIT ? FOR UPDATE SKIP LOCKED
            """;

    public static final String DROP_RESULTS = """
            UPDATE {command}{by key} SET result = NULL, result_codec = NULL, result_kind = 'DROPPED', result_expires_at = NULL
            WHERE id IN ({values}) AND state = 'COMPLETED' AND result_expires_at <= {now}
            """;

    private static final String OVER = """
            key_expires_at <= {now}
              AND (state IN ('COMPLETED', 'FAILED') OR state = 'IN_PROGRESS' AND lease_until <= {now} AND NOT uncertain_if_lost)
            """;

    public static final String LOCK_OLD_KEYS =
            "SELECT id FROM {command} WHERE " + OVER + " ORDER BY key_expires_at LIMIT ? FOR UPDATE SKIP LOCKED";

    public static final String DELETE_KEYS = "{delete command} WHERE id IN ({values}) AND " + OVER;

    private static final String LOST = "state = 'IN_PROGRESS' AND lease_until <= {now} AND uncertain_if_lost";

    public static final String LOCK_LOST =
            "SELECT id FROM {command} WHERE " + LOST + " ORDER BY created_at LIMIT ? FOR UPDATE SKIP LOCKED";

    public static final String DOUBT_LOST =
            "UPDATE {command}{by key} SET state = 'UNCERTAIN', updated_at = {now} WHERE id IN ({values}) AND " + LOST;

    private final SqlRunner sql;

    public CommandSweep(SqlRunner sql) {
        this.sql = sql;
    }

    /** Drops results whose time to live is over. */
    public int dropResults(Connection connection, int limit) throws SQLException {
        return sweep(connection, LOCK_OLD_RESULTS, DROP_RESULTS, limit);
    }

    /** Deletes commands whose key has expired. */
    public int deleteKeys(Connection connection, int limit) throws SQLException {
        return sweep(connection, LOCK_OLD_KEYS, DELETE_KEYS, limit);
    }

    /** Makes commands uncertain whose owner was lost after their effect may have begun. */
    public int doubtLost(Connection connection, int limit) throws SQLException {
        return sweep(connection, LOCK_LOST, DOUBT_LOST, limit);
    }

    /**
     * Locks up to {@code limit} rows and changes them.
     *
     * @return how many rows were changed
     */
    private int sweep(Connection connection, String lock, String change, int limit) throws SQLException {
        List<byte[]> ids = sql.query(connection, lock, binder -> binder.integer(limit), rows -> {
            List<byte[]> found = new ArrayList<>();
            while (rows.next()) {
                found.add(rows.getBytes("id"));
            }
            return found;
        });
        return ids.isEmpty()
                ? 0
                : sql.update(
                        connection, ValueList.in(change, ids.size()), binder -> CommandStatements.bindIds(binder, ids));
    }
}
