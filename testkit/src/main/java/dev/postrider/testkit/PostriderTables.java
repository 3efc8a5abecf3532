package dev.postrider.testkit;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The tables of Postrider in the database of a test. {@link #empty} deletes messages, dead letters, archive, keys, inbox marks, commands
 * and the audit. It keeps topics, lanes, nodes and registered handlers. Thread-safe.
 */
public final class PostriderTables {

    private static final List<String> EMPTIED =
            List.of("message", "archive", "dedup", "inbox_mark", "command", "audit");

    private final DataSource dataSource;
    private final @Nullable String schema;
    private final String tablePrefix;

    /** The tables with the default prefix, in the default schema of the connection. */
    public PostriderTables(DataSource dataSource) {
        this(dataSource, null, "postrider_");
    }

    /** @param schema as in {@code TableOptions}: null for the default schema of the connection */
    public PostriderTables(DataSource dataSource, @Nullable String schema, String tablePrefix) {
        this.dataSource = dataSource;
        this.schema = schema;
        this.tablePrefix = tablePrefix;
    }

    /**
     * Returns the prefix with its schema, in the same form as Postrider uses it. The schema is quoted, except on H2, which changes the
     * case of an unquoted schema as it does for the names of the tables.
     */
    static String qualified(Connection connection, @Nullable String schema, String tablePrefix) throws SQLException {
        if (schema == null) {
            return tablePrefix;
        }
        DatabaseMetaData server = connection.getMetaData();
        String quote = server.getDatabaseProductName().equals("H2") ? "" : server.getIdentifierQuoteString();
        return quote + schema + quote + "." + tablePrefix;
    }

    /**
     * Deletes all rows that tests leave behind. No Postrider may run on these tables during the call.
     *
     * @throws IllegalStateException if the database refuses, for example because the tables do not exist
     */
    public void empty() {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            String prefix = qualified(connection, schema, tablePrefix);
            for (String table : EMPTIED) {
                statement.executeUpdate("DELETE FROM " + prefix + table);
            }
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Could not empty the tables: were they migrated?", e);
        }
    }
}
