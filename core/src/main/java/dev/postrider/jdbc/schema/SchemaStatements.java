package dev.postrider.jdbc.schema;

import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The statements of one database about its schema, its server and its connections. */
public interface SchemaStatements {

    /** The statements that read the description of a table. */
    Catalog.Questions catalogQuestions();

    /**
     * Finds the name of the schema that contains the tables, or in which they would be created; empty if there is none.
     *
     * @param configured the configured schema; null for the schema in which the connection finds the tables
     */
    Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException;

    /** The statement that returns a row if a schema exists. Its one parameter is the name of the schema. */
    String schemaQuery();

    /**
     * Refuses a connection that would change values on the way to the server, for example one that loses characters.
     *
     * @throws InvalidConfigurationException naming the fix
     */
    void checkConnection(Connection connection) throws SQLException;

    /**
     * Finds the privileges that the user lacks, each with its table, as {@code SELECT on postrider_message}. Ignores missing tables.
     *
     * @param columns the tables, each with one of its columns
     */
    List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException;

    /**
     * Runs the migration under a lock, so that one process at a time migrates.
     *
     * @param schema the schema of the tables, as {@link #schemaOfTables} returns it
     */
    void migrate(Connection connection, String schema, Migration migration) throws SQLException;

    /** Refuses an unusable server: a standby, an encoding that loses characters, a sequence that caches numbers. */
    void checkServer(Connection connection) throws SQLException;

    @FunctionalInterface
    interface Migration {
        void run(Connection connection) throws SQLException;
    }

    static SchemaStatements of(SqlRunner sql) {
        return switch (sql.kind()) {
            case POSTGRESQL -> new PostgresSchema(sql);
            case MYSQL, MARIADB -> new InnoDbSchema(sql);
            case H2 -> new H2Schema(sql);
        };
    }
}
