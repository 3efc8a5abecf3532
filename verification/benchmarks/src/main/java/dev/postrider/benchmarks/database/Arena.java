package dev.postrider.benchmarks.database;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** One durable database with one pool. All systems share it, so that none has an advantage by its connections. */
public final class Arena implements AutoCloseable {

    private static final int POOL_SIZE = 30;

    private static final List<String> SETTINGS = List.of(
            "synchronous_commit",
            "fsync",
            "full_page_writes",
            "wal_sync_method",
            "shared_buffers",
            "max_wal_size",
            "autovacuum");

    private final @Nullable DatabaseServer server;
    private final String url;
    private final HikariDataSource pool;
    private final Sql sql;
    private final Copies copies;
    private final @Nullable ProcessorMeter meter;

    private Arena(@Nullable DatabaseServer server, HikariConfig config) {
        this.server = server;
        this.url = config.getJdbcUrl();
        this.pool = new HikariDataSource(config);
        this.sql = Sql.of(url);
        this.copies = new Copies(this);
        execute(List.of(sql.createOrders()));
        long process = server == null ? localServer() : server.pid();
        this.meter = process == 0 ? null : ProcessorMeter.of(process);
    }

    /** Starts a server with durable commits. It is removed when this is closed. */
    public static Arena start(Engine engine) {
        DatabaseServer server = Databases.start(engine);
        Database database = server.createDatabase("bench");
        HikariConfig config = config(database.jdbcUrl());
        config.setUsername(database.user());
        config.setPassword(database.password());
        return new Arena(server, config);
    }

    /** Uses an existing database, which may be written to. */
    public static Arena at(String url) {
        return new Arena(null, config(url));
    }

    private static HikariConfig config(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(POOL_SIZE);
        config.setMinimumIdle(POOL_SIZE);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        return config;
    }

    public DataSource pool() {
        return pool;
    }

    public Sql sql() {
        return sql;
    }

    public Copies copies() {
        return copies;
    }

    /** The processor time that this process and the server have used so far; null if the server runs on another computer. */
    public @Nullable ProcessorTime processorTime() {
        return meter == null ? null : meter.read();
    }

    /**
     * The processor time of each item of work since an earlier reading.
     *
     * @return null if there is no reading
     */
    public @Nullable ProcessorTime usedSince(@Nullable ProcessorTime earlier, int items) {
        ProcessorTime now = processorTime();
        return now == null || earlier == null ? null : now.minus(earlier).per(Math.max(items, 1));
    }

    /** The main process of a PostgreSQL server that was not started here; 0 if it does not run on this computer. */
    private long localServer() {
        boolean isHere = sql == Sql.POSTGRESQL
                && text("SELECT inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1'")
                        .equals("t");
        long session = isHere ? number("SELECT pg_backend_pid()") : 0;
        LinuxProcess process = LinuxProcess.nameOf(session).startsWith("postgres") ? LinuxProcess.of(session) : null;
        return process == null ? 0 : process.parent();
    }

    /** The address of the database, for another process on this computer. */
    public Address address() {
        return new Address(url, pool.getUsername(), pool.getPassword());
    }

    /** A JDBC URL with user and password. */
    public record Address(
            String url, @Nullable String user, @Nullable String password) {}

    /** Writes the dirty pages of earlier phases now, so that they do not slow the next phase. */
    public void settle() {
        if (sql == Sql.POSTGRESQL) {
            execute(List.of("CHECKPOINT"));
        }
    }

    public void execute(List<String> statements) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        } catch (SQLException e) {
            throw new IllegalStateException("Could not run " + statements + ": " + e.getMessage(), e);
        }
    }

    /** Empties the tables of a system, and the orders. */
    public void empty(List<String> tables) {
        List<String> statements = new ArrayList<>(List.of("TRUNCATE TABLE bench_order"));
        tables.forEach(table -> statements.add("TRUNCATE TABLE " + table));
        execute(statements);
    }

    public long count(String table) {
        return number("SELECT count(*) FROM " + table);
    }

    public long number(String query) {
        return Long.parseLong(text(query));
    }

    List<String> columns(String table) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet none = statement.executeQuery("SELECT * FROM " + table + " WHERE 1 = 0")) {
            List<String> columns = new ArrayList<>();
            for (int column = 1; column <= none.getMetaData().getColumnCount(); column++) {
                columns.add(none.getMetaData().getColumnName(column));
            }
            return columns;
        } catch (SQLException e) {
            throw new IllegalStateException("Could not read the columns of " + table, e);
        }
    }

    private String text(String query) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(query)) {
            answer.next();
            return answer.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException("Could not ask " + query, e);
        }
    }

    /** The bytes of WAL that the server has written since its creation. */
    public long walBytes() {
        return number("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint");
    }

    /** The version, and the settings that decide the cost of a commit. */
    public Map<String, String> describe() {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("database", text("SELECT version()"));
        if (sql == Sql.POSTGRESQL) {
            SETTINGS.forEach(name -> settings.put(name, text("SELECT current_setting('" + name + "')")));
        }
        settings.put("connections in the pool", Integer.toString(POOL_SIZE));
        settings.put(
                "processor time", meter == null ? "not measured: the server runs elsewhere" : "of client and server");
        return settings;
    }

    @Override
    public void close() {
        if (server == null) {
            copies.drop();
        }
        pool.close();
        if (server != null) {
            server.close();
        }
    }
}
