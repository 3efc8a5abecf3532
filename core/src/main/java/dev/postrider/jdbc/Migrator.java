package dev.postrider.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings the tables to the version of this library, from the numbered files beside this class. Safe on many nodes at once. */
final class Migrator {

    private static final Logger log = LoggerFactory.getLogger(Migrator.class);

    /**
     * One file for each version, in order.
     *
     * @param minCompatible the oldest library version, by schema version, that still works with the tables afterwards
     */
    private record Version(int number, String file, int minCompatible) {}

    private static final List<Version> VERSIONS = List.of(new Version(1, "V001__outbox.sql", 1));

    /** The schema version this library works with. */
    static final int CURRENT = VERSIONS.get(VERSIONS.size() - 1).number();

    private static final String CREATE_SCHEMA_TABLE = """
            CREATE TABLE IF NOT EXISTS {schema} (
                version        INT          NOT NULL,
                min_compatible INT          NOT NULL,
                applied_at     VARCHAR(40)  NOT NULL,
                PRIMARY KEY (version)
            )
            """;

    private final Dialect dialect;

    Migrator(Dialect dialect) {
        this.dialect = dialect;
    }

    /** @return how many versions were applied */
    int migrate(Connection connection) throws SQLException {
        List<Integer> applied = new ArrayList<>();
        dialect.migrate(connection, locked -> {
            execute(locked, dialect.sql(CREATE_SCHEMA_TABLE));
            int found = version(locked);
            for (Version version : VERSIONS) {
                if (version.number() > found) {
                    apply(locked, version);
                    applied.add(version.number());
                }
            }
        });
        return applied.size();
    }

    private void apply(Connection connection, Version version) throws SQLException {
        for (String statement : statements(read(version.file()))) {
            execute(connection, statement);
        }
        String insert = dialect.sql("INSERT INTO {schema} (version, min_compatible, applied_at) VALUES (?, ?, ?)");
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            dialect.bind(statement)
                    .integer(version.number())
                    .integer(version.minCompatible())
                    .text(java.time.Instant.now().toString());
            statement.executeUpdate();
        }
        log.info("Applied schema version {} ({})", version.number(), version.file());
    }

    private int version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(dialect.sql("SELECT MAX(version) FROM {schema}"))) {
            return row.next() ? row.getInt(1) : 0;
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The statements of this installation, as they would be run: for people who apply them by other means. */
    List<String> script() {
        List<String> script =
                new ArrayList<>(List.of(dialect.sql(CREATE_SCHEMA_TABLE).strip()));
        for (Version version : VERSIONS) {
            script.addAll(statements(read(version.file())));
            script.add(dialect.sql("INSERT INTO {schema} (version, min_compatible, applied_at) VALUES ("
                    + version.number() + ", " + version.minCompatible() + ", 'by hand')"));
        }
        return script;
    }

    /** Our own files: no semicolon but at the end of a statement, no comment but on lines of its own or after one. */
    private static List<String> statements(String script) {
        String code = script.replaceAll("(?m)--.*$", "");
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
            return dialect.tables().ddl(new String(in.readAllBytes(), UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
