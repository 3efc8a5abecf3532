package dev.postrider.jdbc.schema;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.jdbc.sql.SqlRunner;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Upgrades the tables to the schema version of this library with the numbered schema files. Safe on several nodes at once. */
final class Migrator {

    private static final Logger log = LoggerFactory.getLogger(Migrator.class);

    /** A schema version and its file. The last statement of the file records the version. */
    private record Version(int number, String file) {}

    private static final List<Version> VERSIONS = List.of(
            new Version(1, "V001__outbox.sql"),
            new Version(2, "V002__inbox.sql"),
            new Version(3, "V003__commands.sql"));

    /** The schema version this library works with. */
    static final int CURRENT = VERSIONS.get(VERSIONS.size() - 1).number();

    /** Up to the next semicolon outside the body of a function, which is between two pairs of dollar signs. */
    private static final Pattern STATEMENT = Pattern.compile("(?s)(?:[^;$]++|\\$\\$.*?\\$\\$|\\$)++");

    private static final String NO_SCHEMA =
            "is missing, and the connection has no default schema: name the schema (on MySQL and MariaDB the database) in the JDBC"
                    + " URL, or with tables(t -> t.withSchema(…))";

    private final SqlRunner sql;
    private final SchemaStatements statements;
    private final @Nullable String schema;

    Migrator(SqlRunner sql, SchemaStatements statements) {
        this.sql = sql;
        this.statements = statements;
        this.schema = sql.tables().schema();
    }

    /** @return the number of applied versions */
    int migrate(Connection connection) throws SQLException {
        List<Integer> applied = new ArrayList<>();
        String place = place(statements, connection, schema);
        requireSchema(sql, statements, connection, schema);
        statements.migrate(connection, place, locked -> {
            int found = version(locked, place);
            for (Version version : VERSIONS) {
                if (version.number() > found) {
                    apply(locked, version);
                    applied.add(version.number());
                }
            }
        });
        return applied.size();
    }

    /** @throws InvalidConfigurationException if neither the configuration nor the connection names a schema */
    static String place(SchemaStatements statements, Connection connection, @Nullable String schema)
            throws SQLException {
        return statements
                .schemaOfTables(connection, schema)
                .orElseThrow(() -> new InvalidConfigurationException("schema", NO_SCHEMA));
    }

    /** @throws SchemaMismatchException if the configured schema does not exist */
    static void requireSchema(
            SqlRunner sql, SchemaStatements statements, Connection connection, @Nullable String schema)
            throws SQLException {
        if (schema != null
                && !sql.query(connection, statements.schemaQuery(), binder -> binder.text(schema), ResultSet::next)) {
            throw new SchemaMismatchException("Schema " + schema
                    + " does not exist, or this user cannot see it. Create it first, as its owner" + " (CREATE SCHEMA "
                    + schema + "; on MySQL and MariaDB that is a database), or correct the name");
        }
    }

    private int version(Connection connection, String place) throws SQLException {
        if (!Catalog.read(
                        sql,
                        statements.catalogQuestions(),
                        connection,
                        place,
                        sql.tables().bare("schema"))
                .isTable()) {
            return 0;
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql.sql("SELECT MAX(version) FROM {schema}"))) {
            return row.next() ? row.getInt(1) : 0;
        }
    }

    private void apply(Connection connection, Version version) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String part : statements(version)) {
                statement.execute(part);
            }
        }
        log.info("Applied schema version {} ({})", version.number(), version.file());
    }

    /** Returns the statements of this installation as {@link #migrate} runs them, for users who apply them with another tool. */
    List<String> script() {
        return VERSIONS.stream()
                .flatMap(version -> statements(version).stream())
                .toList();
    }

    /**
     * Splits a schema file. These files have semicolons only at the end of a statement or in the body of a function, and no comment
     * within a quotation.
     */
    private List<String> statements(Version version) {
        String code = sql.tables().ddl(read(version.file())).replaceAll("(?m)--.*$", "");
        List<String> statements = new ArrayList<>();
        for (String statement :
                STATEMENT.matcher(code).results().map(MatchResult::group).toList()) {
            if (!statement.isBlank()) {
                statements.add(statement.strip());
            }
        }
        return statements;
    }

    private String read(String file) {
        String path = "/dev/postrider/schema/" + sql.kind().folder() + "/" + file;
        try (InputStream in = Migrator.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("The jar does not contain " + path);
            }
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
