package dev.postrider.contracts.crash;

import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.transport.DeliveryHandler;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A database with Postrider's tables and one of orders, and everything that a test starts on it. Closes all of it. */
final class Site implements AutoCloseable {

    /** A message that was delivered, as the archive has it. */
    record Archived(int attempts, int crashes, LocalDateTime deliveredAt) {}

    /** Its table of transactions is a copy, made anew for a question that comes a tenth of a second after the last one. */
    private static final Duration INNODB_LOOKS_AGAIN = Duration.ofMillis(150);

    private final Engine engine;
    private final Database database;
    private final HikariDataSource pool;
    private final Postrider postrider;
    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private int placed;

    private Site(DatabaseServer server) {
        engine = server.engine();
        database = server.createDatabase("crash");
        pool = Orders.pool(database);
        started.push(pool);
        postrider = Orders.configured(pool, topic -> {}).build();
        postrider.migrate();
        execute("CREATE TABLE purchase (id VARCHAR(50) PRIMARY KEY)");
    }

    /** On the server that all tests share. */
    static Site on(Engine engine) {
        return new Site(Databases.assumeStarted(engine));
    }

    /** On a server of the test's own. */
    static Site on(DatabaseServer server) {
        return new Site(server);
    }

    Database database() {
        return database;
    }

    Postrider postrider() {
        return postrider;
    }

    /** A worker process that is connected and waits for its start. */
    Child worker(String name, Pace pace) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.addAll(
                List.of(name, pace.lease().toString(), pace.poll().toString(), Integer.toString(pace.inFlight())));
        return child(name, WorkerProgram.class, arguments);
    }

    /** A process that delivers, and writes the orders that it is told. */
    Child writer(String name, Pace pace) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.addAll(
                List.of(name, pace.lease().toString(), pace.poll().toString(), Integer.toString(pace.inFlight())));
        return child(name, HandOverProgram.class, arguments);
    }

    /** A process that has claimed what there was, under this lease. */
    Child claimer(Duration lease) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.add(lease.toString());
        return child("claimer", ClaimerProgram.class, arguments);
    }

    /** A process that is connected and, at its first command, begins to place orders. */
    Child producer(String name) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.add(name);
        return child(name, ProducerProgram.class, arguments);
    }

    /** A process that is connected and runs the commands that it is told, until it dies. */
    Child commander(String name) {
        return child(name, CommandProgram.class, Orders.arguments(database));
    }

    DataSource dataSource() {
        return pool;
    }

    /** A process that is connected and, when it is started, delivers the ledger to the receiver. */
    Child ledgerWorker(String name, int port) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.addAll(List.of(name, Integer.toString(port)));
        return child(name, LedgerProgram.class, arguments);
    }

    /** A process that handles a message, and stops at the boundary with this number. */
    Child consumer(int stopAt) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.add(Integer.toString(stopAt));
        return child("consumer", ConsumerProgram.class, arguments);
    }

    /** A process that receives or handles a message, as it is told, and stops at this boundary; 0 for none. */
    Child desk(int stopAt, String what) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.addAll(List.of(Integer.toString(stopAt), what));
        return child("desk", DeskProgram.class, arguments);
    }

    /** A process that makes a step of a background operation, and stops at this boundary; 0 for none. */
    Child operator(int stopAt) {
        List<String> arguments = new ArrayList<>(Orders.arguments(database));
        arguments.add(Integer.toString(stopAt));
        return child("operator", OperationProgram.class, arguments);
    }

    private Child child(String name, Class<?> program, List<String> arguments) {
        Child child = Child.start(name, program, arguments);
        started.push(child);
        return child;
    }

    /** A node in this process, not started yet, with a pool of its own. */
    Node node(String name, Pace pace, DeliveryHandler handler) {
        return node(name, pool(database), pace, handler);
    }

    /** The same behind a proxy. */
    Node node(String name, FaultyProxy proxy, Pace pace, DeliveryHandler handler) {
        return node(name, pool(behind(proxy)), pace, handler);
    }

    Node node(String name, DataSource dataSource, Pace pace, DeliveryHandler handler) {
        Node node = new Node(name, dataSource, pace, handler);
        started.push(node);
        return node;
    }

    FaultyProxy proxy() {
        FaultyProxy proxy = FaultyProxy.before(database.jdbcUrl());
        started.push(proxy);
        return proxy;
    }

    /** Statements go through the proxy with their text, so that it can tell them apart. */
    Database behind(FaultyProxy proxy) {
        String url = engine == Engine.POSTGRESQL_18 ? proxy.jdbcUrl() + "?prepareThreshold=0" : proxy.jdbcUrl();
        return new Database(database.name(), url, database.user(), database.password());
    }

    HikariDataSource pool(Database address) {
        HikariDataSource another = Orders.pool(address);
        started.push(another);
        return another;
    }

    /** Commits so many orders with their messages in one transaction; answers their ids. */
    List<String> place(int count) {
        List<String> orders = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            orders.add("test-" + placed++);
        }
        try {
            Orders.place(postrider, orders, () -> {});
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return orders;
    }

    /** All orders that were committed. */
    Set<String> orders() {
        return new HashSet<>(texts("SELECT id FROM purchase"));
    }

    /** The orders of all messages that are waiting, being delivered or dead. */
    List<String> live() {
        return texts("SELECT ordering_key FROM postrider_message");
    }

    /** The orders of all messages that were delivered, by the database's account. */
    List<String> archivedOrders() {
        return texts("SELECT ordering_key FROM postrider_archive");
    }

    Map<String, Archived> archived() {
        Map<String, Archived> archived = new HashMap<>();
        query("SELECT ordering_key, attempts, crashes, delivered_at FROM postrider_archive", row -> {
            Archived earlier = archived.put(row.getString(1), new Archived(row.getInt(2), row.getInt(3), utc(row, 4)));
            if (earlier != null) {
                throw new AssertionError(row.getString(1) + " is in the archive twice");
            }
        });
        return archived;
    }

    /** When the leases end, by the database's clock. */
    Map<String, LocalDateTime> leaseEnds() {
        Map<String, LocalDateTime> ends = new HashMap<>();
        query(
                "SELECT ordering_key, locked_until FROM postrider_message WHERE state = 'PROCESSING'",
                row -> ends.put(row.getString(1), utc(row, 2)));
        return ends;
    }

    /** Transactions of other connections that are under way, a dead client's among them. */
    long openTransactions() {
        if (engine == Engine.POSTGRESQL_18) {
            return count("SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '" + database.name()
                    + "' AND pid <> pg_backend_pid() AND xact_start IS NOT NULL AND backend_type = 'client backend'");
        }
        LockSupport.parkNanos(INNODB_LOOKS_AGAIN.toNanos());
        return count("SELECT COUNT(*) FROM information_schema.innodb_trx t JOIN information_schema.processlist p"
                + " ON p.id = t.trx_mysql_thread_id WHERE p.db = '" + database.name() + "'");
    }

    private LocalDateTime utc(ResultSet row, int column) throws SQLException {
        return engine == Engine.POSTGRESQL_18
                ? row.getObject(column, java.time.OffsetDateTime.class)
                        .withOffsetSameInstant(java.time.ZoneOffset.UTC)
                        .toLocalDateTime()
                : row.getObject(column, LocalDateTime.class);
    }

    /** The only number that the query answers. */
    long count(String sql) {
        return Long.parseLong(texts(sql).get(0));
    }

    /** The only text that the query answers; null if there is none. */
    @Nullable
    String text(String sql) {
        return texts(sql).stream().findFirst().orElse(null);
    }

    /** The first column of each row. */
    List<String> texts(String sql) {
        List<String> texts = new ArrayList<>();
        query(sql, row -> texts.add(row.getString(1)));
        return texts;
    }

    @FunctionalInterface
    private interface Row {
        void read(ResultSet row) throws SQLException;
    }

    private void query(String sql, Row each) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                each.read(rows);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** A connection of the test's own, for whatever it wants to be in the way with. */
    Connection connection() throws SQLException {
        return database.dataSource().getConnection();
    }

    void execute(String sql) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** What a test measured, for the readers of its output. */
    void print(String test, String measured) {
        System.out.println(engine.displayName() + ": " + test + ": " + measured);
    }

    static long millis(long nanos) {
        return Duration.ofNanos(nanos).toMillis();
    }

    @Override
    public void close() {
        IllegalStateException failure = new IllegalStateException("Something could not be closed");
        while (!started.isEmpty()) {
            try {
                started.pop().close();
            } catch (Exception e) {
                failure.addSuppressed(e);
            }
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}
