package dev.postrider.server.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/**
 * An embedded PostgreSQL in a temporary directory, as durable as a real one: a proof on a database that loses commits
 * proves nothing.
 */
final class DemoDatabase implements AutoCloseable {

    static final String USER = "postgres";

    private final Workplace workplace;
    private final EmbeddedPostgres server;

    private DemoDatabase(Workplace workplace, EmbeddedPostgres server) {
        this.workplace = workplace;
        this.server = server;
    }

    static DemoDatabase start() {
        if ("root".equals(System.getProperty("user.name")) && isLinux() && !LinuxUtils.isUnshareAvailable()) {
            throw new DemoUnavailableException(
                    "PostgreSQL refuses to run as root, and 'unshare -U' does not work here: run the demo as another user",
                    null);
        }
        Workplace workplace = Workplace.create();
        // Otherwise the library creates a directory for all users, which only the first of them may write to.
        System.setProperty("ot.epg.working-dir", workplace.directory().toString());
        try {
            EmbeddedPostgres server = start(workplace.directory());
            workplace.guardServer();
            return new DemoDatabase(workplace, server);
        } catch (IOException | RuntimeException | ExceptionInInitializerError e) {
            workplace.close();
            throw unavailable(e);
        }
    }

    private static boolean isLinux() {
        return System.getProperty("os.name").startsWith("Linux");
    }

    /** The library switches durability off for fast tests. The last three settings switch it on again. */
    private static EmbeddedPostgres start(Path directory) throws IOException {
        return EmbeddedPostgres.builder()
                .setOverrideWorkingDirectory(directory.resolve("programs").toFile())
                .setDataDirectory(directory.resolve("data"))
                .setPGStartupWait(Duration.ofSeconds(60))
                // Its hook would stop the server on Ctrl-C, while the last orders are still being delivered.
                .setRegisterShutdownHook(false)
                .setLocaleConfig("locale", "C")
                .setServerConfig("fsync", "on")
                .setServerConfig("full_page_writes", "on")
                .setServerConfig("synchronous_commit", "on")
                .start();
    }

    private static DemoUnavailableException unavailable(Throwable e) {
        String platform = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
        return e instanceof IllegalStateException
                ? new DemoUnavailableException(
                        "There is no embedded PostgreSQL for " + platform + " in this build (" + e.getMessage()
                                + "): build Postrider on this machine, or use 'postrider run' with a database of your own",
                        e)
                : new DemoUnavailableException(
                        "The embedded PostgreSQL did not start on " + platform + " (" + e
                                + "): --verbose shows what it printed",
                        e);
    }

    /** The address, without the user. The server asks for no password. */
    String url() {
        return "jdbc:postgresql://localhost:" + server.getPort() + "/postgres";
    }

    /** A pool as an application would configure it. */
    HikariDataSource pool(String name, int size) {
        HikariConfig config = new HikariConfig();
        config.setPoolName(name);
        config.setJdbcUrl(url());
        config.setUsername(USER);
        config.setMaximumPoolSize(size);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        return new HikariDataSource(config);
    }

    /** The version, the port and the durability settings of the server. */
    String describe() throws SQLException {
        try (Connection connection = server.getPostgresDatabase().getConnection()) {
            return "PostgreSQL " + show(connection, "server_version") + " on port " + server.getPort() + ", fsync="
                    + show(connection, "fsync") + ", synchronous_commit=" + show(connection, "synchronous_commit");
        }
    }

    private static String show(Connection connection, String setting) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW " + setting)) {
            row.next();
            return row.getString(1);
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new DemoUnavailableException("The embedded PostgreSQL did not stop: " + e, e);
        } finally {
            workplace.close();
        }
    }
}
