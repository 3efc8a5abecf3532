package dev.postrider.jdbc;

import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rebuilds outgrown indexes of the message table on PostgreSQL. If cleanup was delayed for a long time, vacuum
 * truncates the end of the table but returns no page of an index. The indexes are rebuilt when they are larger than their table and the
 * table is small, so that the rebuild is short. A node whose user lacks the role of the table's owner does nothing. Immutable,
 * thread-safe.
 */
final class PostgresIndexes {

    private static final Logger log = LoggerFactory.getLogger(PostgresIndexes.class);

    private static final String OUTGROWN =
            "pg_indexes_size(c.oid) >= 16000000 AND pg_indexes_size(c.oid) >= pg_relation_size(c.oid) AND pg_relation_size(c.oid) <= 64000000";

    private static final String SIZE = "SELECT pg_indexes_size(to_regclass(?))";

    private static final String MAY_AND_SHOULD =
            "SELECT FROM pg_class AS c WHERE c.oid = to_regclass(?) AND pg_has_role(c.relowner, 'USAGE') AND "
                    + OUTGROWN;

    /**
     * One statement, so that a frozen process does not keep the table locked. The lock timeout is short, because writers queue behind a
     * waiting table lock. The size is checked again under the lock, because another node may have rebuilt the indexes already.
     */
    private static final String REBUILD = """
            DO $rebuild$
            BEGIN
                PERFORM set_config('lock_timeout', '50ms', true);
                LOCK TABLE {message} IN SHARE MODE;
                IF EXISTS (SELECT FROM pg_class AS c WHERE c.oid = '{message}'::regclass AND %s) THEN
                    REINDEX TABLE {message};
                END IF;
            END
            $rebuild$
            """.formatted(OUTGROWN);

    private final SqlRunner sql;

    PostgresIndexes(SqlRunner sql) {
        this.sql = sql;
    }

    boolean rebuildOutgrown(Sessions sessions) {
        return sessions.statement("rebuild indexes", this::rebuildOutgrown);
    }

    private boolean rebuildOutgrown(Connection connection) throws SQLException {
        if (!sql.query(connection, MAY_AND_SHOULD, this::bindTable, rows -> rows.next())) {
            return false;
        }
        long before = size(connection);
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql.sqlOnce(REBUILD));
        } catch (SQLException e) {
            if (!SqlErrors.isConflict(e)) {
                throw e;
            }
            log.info("Could not rebuild the indexes of the message table: it is in use. Will retry later");
            return false;
        }
        log.info("Rebuilt the indexes of the message table: {} bytes, {} before", size(connection), before);
        return true;
    }

    private long size(Connection connection) throws SQLException {
        return sql.query(connection, SIZE, this::bindTable, rows -> rows.next() ? rows.getLong(1) : 0);
    }

    private void bindTable(Binder binder) throws SQLException {
        binder.text(sql.tables().qualified("message"));
    }
}
