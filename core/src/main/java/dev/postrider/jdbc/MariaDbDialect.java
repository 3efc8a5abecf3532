package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Collection;

/** MariaDB. Its schema differs from that of MySQL in the collation that compares byte by byte. */
final class MariaDbDialect extends InnoDbDialect {

    private static final String BULK_DRIVER = "MariaDB Connector/J";

    /** The number of rows from which a batch is faster in spite of its savepoint. */
    private static final int BULK_ROWS = 16;

    private final boolean bulk;

    /** @param driver the name of the JDBC driver: the MariaDB driver sends a batch at once, the MySQL driver row by row */
    MariaDbDialect(Tables tables, String driver) {
        this(tables, driver.equals(BULK_DRIVER));
    }

    private MariaDbDialect(Tables tables, boolean bulk) {
        super(tables);
        this.bulk = bulk;
    }

    @Override
    Dialect in(String schema) {
        return new MariaDbDialect(tables().in(schema, "`"), bulk);
    }

    @Override
    String folder() {
        return "mariadb";
    }

    /** Uses the multi-table form of DELETE, because the single-table form accepts no hint. */
    @Override
    String deleteByKey() {
        return "DELETE {$1} FROM {$1}" + byKey();
    }

    @Override
    String idleVariable() {
        return "idle_transaction_timeout";
    }

    /** Uses a batch, which takes a third of the time of one long statement. The driver may split the batch, hence the savepoint. */
    @Override
    void insertRows(Connection connection, Collection<NewRow> rows) throws SQLException {
        if (!bulk || rows.size() < BULK_ROWS) {
            super.insertRows(connection, rows);
            return;
        }
        Savepoint savepoint = connection.setSavepoint();
        try {
            insertBatch(connection, rows);
            connection.releaseSavepoint(savepoint);
        } catch (Throwable e) {
            rollbackTo(connection, savepoint, e);
            throw e;
        }
    }

    private void insertBatch(Connection connection, Collection<NewRow> rows) throws SQLException {
        String insert = withRows(LockingSql.INSERT, LockingSql.INSERT_ROW, 1);
        try (PreparedStatement statement = GuardedConnection.target(connection).prepareStatement(insert)) {
            for (NewRow row : rows) {
                bind(statement).row(row);
                statement.addBatch();
            }
            for (int count : statement.executeBatch()) {
                if (count != 1 && count != Statement.SUCCESS_NO_INFO) {
                    throw new SQLException("Could not insert a message: expected 1 row but changed " + count);
                }
            }
        }
    }
}
