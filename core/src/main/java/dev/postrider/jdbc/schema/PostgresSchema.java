package dev.postrider.jdbc.schema;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.jdbc.sql.Binder;
import dev.postrider.jdbc.sql.Sessions;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The schema on PostgreSQL. */
final class PostgresSchema implements SchemaStatements {

    private static final String MISSING_GRANTS = """
            SELECT needed.privilege || ' on ' || needed.name
            FROM unnest(?::text[], ?::text[]) AS needed (name, privilege)
            WHERE to_regclass(needed.name) IS NOT NULL
              AND NOT CASE WHEN needed.name = ? THEN has_sequence_privilege(to_regclass(needed.name), needed.privilege)
                           ELSE has_table_privilege(to_regclass(needed.name), needed.privilege) END
            """;

    private final SqlRunner sql;

    PostgresSchema(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Catalog.Questions catalogQuestions() {
        String named = " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?";
        return new Catalog.Questions(
                "SELECT FROM pg_class c" + named + " AND c.relkind IN ('r', 'p')",
                "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
                        + " JOIN pg_class c ON c.oid = a.attrelid" + named + " AND a.attnum > 0 AND NOT a.attisdropped",
                "SELECT x.relname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid"
                        + named);
    }

    /** The search path may list several schemas: the tables are in the first schema that contains them, or will be in the current one. */
    @Override
    public Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return configured != null
                ? Optional.of(configured)
                : sql.query(
                        connection,
                        "SELECT coalesce((SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
                                + " WHERE c.oid = to_regclass(?)), current_schema())",
                        binder -> binder.text(sql.tables().bare("schema")),
                        row -> row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty());
    }

    @Override
    public String schemaQuery() {
        return "SELECT FROM pg_namespace WHERE nspname = ?";
    }

    /** PostgreSQL converts no value on the way. */
    @Override
    public void checkConnection(Connection connection) {}

    @Override
    public List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException {
        List<String> names = new ArrayList<>();
        List<String> privileges = new ArrayList<>();
        List<String> all = new ArrayList<>(columns.keySet());
        all.add("inbox_floor");
        for (String table : all) {
            for (String privilege : List.of("SELECT", "INSERT", "UPDATE", "DELETE")) {
                names.add(sql.tables().qualified(table));
                privileges.add(privilege);
            }
        }
        String sequence = sql.tables().qualified("message_seq");
        // Reads of lanes select the last value of the sequence.
        for (String privilege : List.of("USAGE", "SELECT")) {
            names.add(sequence);
            privileges.add(privilege);
        }
        return sql.query(
                connection,
                MISSING_GRANTS,
                binder -> binder.array("text", names.toArray())
                        .array("text", privileges.toArray())
                        .text(sequence),
                row -> {
                    List<String> missing = new ArrayList<>();
                    while (row.next()) {
                        missing.add(row.getString(1));
                    }
                    return missing;
                });
    }

    /**
     * Runs the migration in one transaction: DDL is transactional on PostgreSQL, so it applies completely or not at all. New tables are
     * created in the schema of the existing ones, even if another schema comes first in the search path.
     */
    @Override
    public void migrate(Connection connection, String schema, Migration migration) throws SQLException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL lock_timeout = '10s'");
            statement.execute("SELECT pg_advisory_xact_lock("
                    + sql.tables().qualified("schema").hashCode() + ")");
            sql.query(
                    connection,
                    "SELECT set_config('search_path', quote_ident(?) || ', ' || current_setting('search_path'), true)",
                    binder -> binder.text(schema),
                    ResultSet::next);
            migration.run(connection);
            connection.commit();
        } catch (SQLException | RuntimeException | Error e) {
            Sessions.rollback(connection, e);
            throw e;
        }
    }

    @Override
    public void checkServer(Connection connection) throws SQLException {
        sql.query(connection, "SELECT pg_is_in_recovery(), current_setting('server_encoding')", binder -> {}, row -> {
            row.next();
            checkPrimary(row.getBoolean(1));
            checkEncoding(row.getString(2));
            return true;
        });
        sql.query(
                connection,
                "SELECT seqcache FROM pg_sequence WHERE seqrelid = ?::regclass",
                this::bindSequence,
                row -> {
                    checkSequence(row.next() ? row.getLong(1) : 1);
                    return true;
                });
    }

    private void bindSequence(Binder binder) throws SQLException {
        binder.text(sql.tables().qualified("message_seq"));
    }

    private static void checkPrimary(boolean inRecovery) {
        if (inRecovery) {
            throw new InvalidConfigurationException(
                    "db.url", "leads to a standby, which is read-only: use the address of the primary");
        }
    }

    private static void checkEncoding(String encoding) {
        if (!encoding.equals("UTF8")) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "leads to a database with encoding " + encoding
                            + ", which loses characters: create the database with ENCODING 'UTF8'");
        }
    }

    private void checkSequence(long cache) {
        if (cache != 1) {
            String sequence = sql.tables().qualified("message_seq");
            throw new SchemaMismatchException("Sequence " + sequence
                    + " allocates numbers in blocks, which breaks the order of messages. Run: ALTER SEQUENCE "
                    + sequence
                    + " CACHE 1");
        }
    }
}
