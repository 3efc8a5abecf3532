package dev.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the tables to the version of this library, from the numbered files beside this class. Safe on many nodes at once. */
final class Migrator {

    private static final Logger log = LoggerFactory.getLogger(Migrator.class);

    /** One file for each version, in order; its last statement notes the version. */
    private record Version(int number, String file) {}

    private static final List<Version> VERSIONS = List.of(
            new Version(1, "V001__outbox.sql"),
            new Version(2, "V002__inbox.sql"),
            new Version(3, "V003__commands.sql"));

    /** The schema version this library works with. */
    static final int CURRENT = VERSIONS.get(VERSIONS.size() - 1).number();

    private static final String NO_SCHEMA =
            "is needed, because the connection has none by itself: name the schema (on MySQL and MariaDB the database) in the JDBC"
                    + " URL, or with tables(t -> t.withSchema(…))";

    private final Dialect dialect;
    private final @Nullable String schema;

    Migrator(Dialect dialect, JdbcOptions options) {
        this.dialect = dialect;
        this.schema = options.schema();
    }

    /** @return how many versions were applied */
    int migrate(Connection connection) throws SQLException {
        List<Integer> applied = new ArrayList<>();
        String place = place(dialect, connection, schema);
        dialect.migrate(connection, place, locked -> {
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

    /** @throws InvalidConfigurationException when no schema is named, neither here nor by the connection */
    static String place(Dialect dialect, Connection connection, @Nullable String schema) throws SQLException {
        return dialect.schemaOfTables(connection, schema)
                .orElseThrow(() -> new InvalidConfigurationException("schema", NO_SCHEMA));
    }

    private int version(Connection connection, String place) throws SQLException {
        if (!Catalog.read(dialect, connection, place, dialect.tables().bare("schema"))
                .isTable()) {
            return 0;
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(dialect.sql("SELECT MAX(version) FROM {schema}"))) {
            return row.next() ? row.getInt(1) : 0;
        }
    }

    private void apply(Connection connection, Version version) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements(version)) {
                statement.execute(sql);
            }
        }
        log.info("Applied schema version {} ({})", version.number(), version.file());
    }

    /** The statements of this installation, as they would be run: for people who apply them by other means. */
    List<String> script() {
        return VERSIONS.stream()
                .flatMap(version -> statements(version).stream())
                .toList();
    }

    /** Our own files: no semicolon but at the end of a statement, no comment within a quotation. */
    private List<String> statements(Version version) {
        String code = dialect.tables().ddl(read(version.file())).replaceAll("(?m)--.*$", "");
        List<String> statements = new ArrayList<>();
        for (String statement : code.split(";")) {
            if (!statement.isBlank()) {
                statements.add(statement.strip());
            }
        }
        return statements;
    }

    private String read(String file) {
        String path = "/dev/postrider/schema/" + dialect.folder() + "/" + file;
        try (InputStream in = Migrator.class.getResourceAsStream(path)) {
            if (in == null) {
                throw new IllegalStateException("The jar lacks " + path);
            }
            return new String(in.readAllBytes(), UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
