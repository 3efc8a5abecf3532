package dev.postrider.jdbc.schema;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** The tables in the database: their migration, their check and their place. Thread-safe. */
public final class JdbcSchema {

    private final DataSource dataSource;
    private final SqlRunner asConnected;
    private final SchemaStatements statements;
    private final @Nullable String place;

    /**
     * @param asConnected uses the names that a connection of the data source resolves
     * @param place the schema of the tables, also before they exist; null if the connection does not report it
     */
    public JdbcSchema(
            DataSource dataSource, SqlRunner asConnected, SchemaStatements statements, @Nullable String place) {
        this.dataSource = dataSource;
        this.asConnected = asConnected;
        this.statements = statements;
        this.place = place;
    }

    /** Finds the place of the tables over the first connection, and refuses a connection that would change values. */
    public static JdbcSchema of(DataSource dataSource, SqlRunner asConnected, Connection connection)
            throws SQLException {
        SchemaStatements statements = SchemaStatements.of(asConnected);
        statements.checkConnection(connection);
        String place = statements
                .schemaOfTables(connection, asConnected.tables().schema())
                .orElse(null);
        return new JdbcSchema(dataSource, asConnected, statements, place);
    }

    /**
     * Returns a runner that uses the full names of the tables: a connection that is switched to another schema may find other tables there,
     * with other topic ids.
     */
    public SqlRunner inPlace() {
        return asConnected.tables().schema() != null || place == null ? asConnected : asConnected.in(place);
    }

    private Migrator migrator() {
        return new Migrator(asConnected, statements);
    }

    /** Migrates the tables to the version of this library. Returns how many versions it applied. Safe on several nodes at once. */
    public int migrate() {
        try (Connection connection = dataSource.getConnection()) {
            if (connection.isReadOnly()) {
                throw readOnly(null);
            }
            boolean autoCommit = connection.getAutoCommit();
            requireSamePlace(connection);
            int applied = migrator().migrate(connection);
            connection.setAutoCommit(autoCommit);
            return applied;
        } catch (SQLException e) {
            throw SqlErrors.isReadOnly(e) ? readOnly(e) : SqlErrors.translate("migrate the schema", e);
        }
    }

    private static UnusableConnectionException readOnly(@Nullable SQLException reason) {
        return new UnusableConnectionException(
                Problem.READ_ONLY, ". To migrate the tables, use a data source that may write", reason);
    }

    /** Returns the statements that {@link #migrate} runs on an empty database. */
    public List<String> script() {
        return migrator().script();
    }

    /**
     * Checks the schema and the server.
     *
     * @throws dev.postrider.error.SchemaMismatchException when this library cannot work with the existing tables
     */
    public void check(Sessions sessions) {
        sessions.statement("check the schema", connection -> {
            requireSamePlace(connection);
            new SchemaCheck(asConnected, statements).check(connection);
            SchemaStatements.of(inPlace()).checkServer(connection);
            return true;
        });
    }

    /** Finds the privileges that the database user lacks, each with its table. Ignores missing tables. */
    public List<String> missingGrants(Sessions sessions) {
        return sessions.statement(
                "check the grants", connection -> new SchemaCheck(asConnected, statements).missingGrants(connection));
    }

    /** @throws InvalidConfigurationException when this connection resolves another schema than the first one did */
    private void requireSamePlace(Connection connection) throws SQLException {
        String now = Migrator.place(statements, connection, asConnected.tables().schema());
        if (place != null && !place.equals(now)) {
            throw new InvalidConfigurationException(
                    "schema",
                    "was " + place + " when Postrider was built and is " + now
                            + " now: let every connection of the data source use one schema, and build Postrider when the"
                            + " tables exist, or name the schema with tables(t -> t.withSchema(…))");
        }
    }

    /** Reads when the versions of the tables were applied; empty when the tables do not exist. */
    public List<Instant> applied(Sessions sessions) {
        SqlRunner sql = inPlace();
        return sessions.statement("read the versions of the tables", connection -> {
            List<Instant> times = new ArrayList<>();
            try (Statement statement = connection.createStatement();
                    ResultSet row =
                            statement.executeQuery(sql.sql("SELECT applied_at FROM {schema} ORDER BY version"))) {
                while (row.next()) {
                    times.add(Objects.requireNonNull(sql.readTime(row, 1)));
                }
            } catch (SQLException e) {
                if (!SqlErrors.isMissingTable(e)) {
                    throw e;
                }
            }
            return times;
        });
    }
}
