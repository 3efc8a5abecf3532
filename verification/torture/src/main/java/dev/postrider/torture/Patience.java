package dev.postrider.torture;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** How long a session waits for a lock: one second, or the default of the server. */
enum Patience {
    /** Valid for the rest of the transaction. */
    POSTGRES("SET LOCAL lock_timeout = '1s'", null),

    /** Valid for the session, which returns to its pool. Must be restored. */
    INNODB("SET SESSION innodb_lock_wait_timeout = 1", "SET SESSION innodb_lock_wait_timeout = DEFAULT");

    private final String shorten;
    private final @Nullable String restore;

    Patience(String shorten, @Nullable String restore) {
        this.shorten = shorten;
        this.restore = restore;
    }

    static Patience of(Connection connection) throws SQLException {
        return connection.getMetaData().getDatabaseProductName().equals("PostgreSQL") ? POSTGRES : INNODB;
    }

    void shorten(Connection connection) throws SQLException {
        execute(connection, shorten);
    }

    void restore(Connection connection) throws SQLException {
        if (restore != null) {
            execute(connection, restore);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
