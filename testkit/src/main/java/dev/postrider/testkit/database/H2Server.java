package dev.postrider.testkit.database;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** H2 in the memory of this JVM. Its databases exist until the server is closed, also while they have no connection. */
final class H2Server implements DatabaseServer {

    private static final AtomicInteger SERVERS = new AtomicInteger();

    // The memory databases of H2 share one name space in the JVM, so each name contains the number of its server.
    private final String namePrefix = "postrider_" + SERVERS.incrementAndGet() + "_";
    private final DatabaseNames names = new DatabaseNames();
    private final List<Database> databases = new ArrayList<>();
    private final Database home = database(namePrefix + "home");
    private boolean closed;

    private H2Server() {
        databases.add(home);
    }

    static H2Server start() {
        H2Server server = new H2Server();
        Drivers.require(Engine.H2, server.jdbcUrl());
        return server;
    }

    private static Database database(String name) {
        return new Database(name, "jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1", "sa", "");
    }

    @Override
    public Engine engine() {
        return Engine.H2;
    }

    @Override
    public String jdbcUrl() {
        return home.jdbcUrl();
    }

    @Override
    public String user() {
        return home.user();
    }

    @Override
    public String password() {
        return home.password();
    }

    @Override
    public DataSource dataSource() {
        return home.dataSource();
    }

    @Override
    public synchronized Database createDatabase(String prefix) {
        if (closed) {
            throw new IllegalStateException("This H2 server is closed");
        }
        Database database = database(namePrefix + names.next(prefix));
        databases.add(database);
        return database;
    }

    @Override
    public void crash() {
        throw notAProcess();
    }

    @Override
    public void restart() {
        throw notAProcess();
    }

    @Override
    public long pid() {
        throw notAProcess();
    }

    private static UnsupportedOperationException notAProcess() {
        return new UnsupportedOperationException(
                "H2 runs in the memory of this JVM: it has no process to crash or restart");
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        for (Database database : databases) {
            try (Connection connection = database.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("SHUTDOWN IMMEDIATELY");
            } catch (SQLException e) {
                throw new IllegalStateException("Cannot shut down " + database.jdbcUrl(), e);
            }
        }
    }
}
