package dev.postrider.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.Collection;

/** MariaDB; its schema differs from MySQL's in the collation that compares byte by byte. */
final class MariaDbDialect extends InnoDbDialect {

    private static final String BULK_DRIVER = "MariaDB Connector/J";

    /** From how many rows on the savepoint around a batch pays. */
    private static final int BULK_ROWS = 16;

    private final boolean bulk;

    /** @param driver the name of the JDBC driver: MariaDB's own sends a batch at once, MySQL's row by row */
    MariaDbDialect(Tables tables, String driver) {
        super(tables);
        this.bulk = driver.equals(BULK_DRIVER);
    }

    @Override
    String folder() {
        return "mariadb";
    }

    /** The other form of DELETE takes no hint. */
    @Override
    String deleteByKey() {
        return "DELETE {$1} FROM {$1}" + byKey();
    }

    @Override
    String idleVariable() {
        return "idle_transaction_timeout";
    }

    /** A batch takes a third of the time of one long statement here; but the driver may cut it, hence the savepoint. */
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
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            for (NewRow row : rows) {
                bind(statement).row(row);
                statement.addBatch();
            }
            for (int count : statement.executeBatch()) {
                if (count != 1 && count != Statement.SUCCESS_NO_INFO) {
                    throw new SQLException("Tried to insert a message: expected 1 row but met " + count);
                }
            }
        }
    }
}
