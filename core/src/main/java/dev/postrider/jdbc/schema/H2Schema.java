package dev.postrider.jdbc.schema;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The schema on H2. */
final class H2Schema implements SchemaStatements {

    /** Serializes migrations. H2 commits DDL by itself, so no lock in the database lasts. An embedded H2 has one process. */
    private static final Object MIGRATION = new Object();

    private static final Set<String> MODES = Set.of("REGULAR", "LEGACY", "POSTGRESQL", "MYSQL", "MARIADB");

    private final SqlRunner sql;

    H2Schema(SqlRunner sql) {
        this.sql = sql;
    }

    /**
     * Compares names without case. H2 folds table names to upper or lower case, as configured. Where it folds none, its own names are in
     * upper case.
     */
    @Override
    public Catalog.Questions catalogQuestions() {
        String named = " WHERE " + isNamed("TABLE_SCHEMA") + " AND " + isNamed("TABLE_NAME");
        return new Catalog.Questions(
                "SELECT 1 FROM INFORMATION_SCHEMA.TABLES" + named + " AND TABLE_TYPE = 'BASE TABLE'",
                "SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS" + named,
                "SELECT INDEX_NAME FROM INFORMATION_SCHEMA.INDEXES" + named);
    }

    /** Uses a pattern: LOWER and UPPER depend on the default locale, and not every mode has VARCHAR_IGNORECASE. */
    private static String isNamed(String column) {
        return "REGEXP_LIKE(" + column + ", '^\\Q' || ? || '\\E$', 'i')";
    }

    @Override
    public Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return Optional.ofNullable(configured == null ? connection.getSchema() : configured);
    }

    @Override
    public String schemaQuery() {
        return "SELECT 1 FROM INFORMATION_SCHEMA.SCHEMATA WHERE " + isNamed("SCHEMA_NAME");
    }

    /** Other modes change the meaning of statements. With IGNORECASE, different tenants and topics would be equal. */
    @Override
    public void checkConnection(Connection connection) throws SQLException {
        String mode = sql.query(
                connection,
                "SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'MODE'",
                binder -> {},
                row -> row.next() ? row.getString(1) : "REGULAR");
        if (!MODES.contains(mode.toUpperCase(Locale.ROOT))) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "has MODE=" + mode
                            + ", in which Postrider's statements do not work: use MODE=PostgreSQL, MySQL or MariaDB, or none");
        }
        if (sql.query(
                connection,
                "SELECT CAST('a' AS VARCHAR) = CAST('A' AS VARCHAR)",
                binder -> {},
                row -> row.next() && row.getBoolean(1))) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "has IGNORECASE=TRUE, so that different keys and tenants become the same: leave it out, and give columns of"
                            + " your own the type VARCHAR_IGNORECASE");
        }
    }

    /** Returns none, because development and tests do not use privileges. */
    @Override
    public List<String> missingGrants(Connection connection, Map<String, String> columns) {
        return List.of();
    }

    @Override
    public void migrate(Connection connection, String schema, Migration migration) throws SQLException {
        connection.setAutoCommit(true);
        synchronized (MIGRATION) {
            migration.run(connection);
        }
    }

    @Override
    public void checkServer(Connection connection) {
        // An H2 database that can be opened can be written. A read-only file fails at the first change of the schema.
    }
}
