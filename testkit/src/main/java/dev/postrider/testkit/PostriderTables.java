package dev.postrider.testkit;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The tables of Postrider in the database of a test. Messages, dead letters, archive, keys, inbox marks, commands and the audit can be
 * removed; topics, lanes, nodes and registered handlers stay. Thread-safe.
 */
public final class PostriderTables {

    private static final List<String> EMPTIED =
            List.of("message", "archive", "dedup", "inbox_mark", "command", "audit");

    private final DataSource dataSource;
    private final String prefix;

    /** The tables with the usual names, in the connection's own schema. */
    public PostriderTables(DataSource dataSource) {
        this(dataSource, null, "postrider_");
    }

    /** @param schema as in {@code JdbcOptions}: null for the connection's own */
    public PostriderTables(DataSource dataSource, @Nullable String schema, String tablePrefix) {
        this.dataSource = dataSource;
        this.prefix = qualified(schema, tablePrefix);
    }

    static String qualified(@Nullable String schema, String tablePrefix) {
        return schema == null ? tablePrefix : schema + "." + tablePrefix;
    }

    /** Removes all rows that tests leave behind. No Postrider may be running on these tables meanwhile. */
    public void empty() {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
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
