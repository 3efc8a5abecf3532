package dev.postrider.jdbc;

import dev.postrider.admin.OldestTransaction;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/**
 * Finds the oldest transaction of the database. Removed rows stay in the tables and indexes until it ends. A user without the privilege to
 * see other sessions sees only its own: on PostgreSQL the role pg_read_all_stats, on MySQL and MariaDB the privilege PROCESS. Immutable,
 * thread-safe.
 */
final class OldestTransactions {

    /** Vacuum keeps the rows that the oldest snapshot or the oldest running transaction of this database may need. */
    private static final String POSTGRES = """
            SELECT pid, concat_ws(', ', 'user ' || usename, 'application ' || nullif(application_name, ''), state) AS description,
                   (EXTRACT(EPOCH FROM clock_timestamp() - xact_start) * 1000)::bigint AS age_millis
            FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
              AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
            ORDER BY GREATEST(age(backend_xmin), age(backend_xid)) DESC, xact_start LIMIT 1
            """;

    private static final String INNODB = """
            SELECT trx_mysql_thread_id, CONCAT('state ', trx_state) AS description,
                   TIMESTAMPDIFF(SECOND, trx_started, NOW()) * 1000 AS age_millis
            FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID()
            ORDER BY trx_started LIMIT 1
            """;

    private final SqlRunner sql;

    OldestTransactions(SqlRunner sql) {
        this.sql = sql;
    }

    /** Empty if there is none, or none that the user may see. */
    Optional<OldestTransaction> find(Connection connection) throws SQLException {
        return switch (sql.kind()) {
            case POSTGRESQL -> find(connection, POSTGRES);
            case MYSQL, MARIADB -> find(connection, INNODB);
            case H2 -> Optional.empty();
        };
    }

    private Optional<OldestTransaction> find(Connection connection, String query) throws SQLException {
        try {
            return sql.query(connection, query, binder -> {}, OldestTransactions::read);
        } catch (SQLException e) {
            if (SqlErrors.isDenied(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static Optional<OldestTransaction> read(ResultSet row) throws SQLException {
        return row.next()
                ? Optional.of(new OldestTransaction(
                        row.getString(1),
                        row.getString("description"),
                        Duration.ofMillis(Math.max(row.getLong("age_millis"), 0))))
                : Optional.empty();
    }
}
