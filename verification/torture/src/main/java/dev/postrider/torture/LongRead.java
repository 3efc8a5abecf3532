package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** A transaction that keeps its snapshot open, so that rows deleted since cannot be removed. */
final class LongRead implements Fault {

    private final Database database;
    private @Nullable Connection connection;

    LongRead(Database database) {
        this.database = database;
    }

    @Override
    public String target() {
        return "all";
    }

    @Override
    public boolean begin() throws SQLException {
        Connection opened = database.dataSource().getConnection();
        connection = opened;
        opened.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        opened.setAutoCommit(false);
        try (Statement statement = opened.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM postrider_topic")) {
            return rows.next();
        }
    }

    @Override
    public void end() throws SQLException {
        if (connection != null) {
            connection.close();
        }
    }
}
