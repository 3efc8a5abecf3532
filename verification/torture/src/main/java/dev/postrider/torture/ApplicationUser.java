package dev.postrider.torture;

import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Engine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * The database user of a run's processes. It has the grants that {@code docs/databases.md} prints and those on the run's tables, and
 * no others.
 */
final class ApplicationUser {

    private static final String NAME = "app";
    private static final String PASSWORD = "app-secret";
    private static final Path PAGE = Path.of("docs", "databases.md");

    private ApplicationUser() {}

    /** Creates the user. All tables must exist. */
    static Database create(Engine engine, Database database, Path repository) throws SQLException {
        boolean postgres = engine == Engine.POSTGRESQL_18;
        List<String> statements = new ArrayList<>();
        statements.add(
                postgres
                        ? "CREATE ROLE " + NAME + " LOGIN PASSWORD '" + PASSWORD + "'"
                        : "CREATE USER " + NAME + " IDENTIFIED BY '" + PASSWORD + "'");
        statements.addAll(printed(postgres ? "postgresql" : "innodb", database, repository));
        for (String table : Tables.names()) {
            String name = postgres ? table : database.name() + "." + table;
            statements.add("GRANT SELECT, INSERT, UPDATE, DELETE ON " + name + " TO " + NAME);
        }
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
        return new Database(database.name(), database.jdbcUrl(), NAME, PASSWORD);
    }

    private static List<String> printed(String engine, Database database, Path repository) {
        String page = read(repository.resolve(PAGE));
        String marker = "<!-- grants: " + engine + " -->\n```sql\n";
        int start = page.indexOf(marker);
        if (start < 0) {
            throw new IllegalStateException(PAGE + " has no grants for " + engine);
        }
        int begin = start + marker.length();
        List<String> grants = new ArrayList<>();
        for (String grant : page.substring(begin, page.indexOf("```", begin)).split(";", -1)) {
            if (!grant.isBlank()) {
                grants.add(grant.strip().replace("shop.", database.name() + "."));
            }
        }
        return grants;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
