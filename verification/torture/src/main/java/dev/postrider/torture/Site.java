package dev.postrider.torture;

import dev.postrider.Postrider;
import dev.postrider.testkit.FaultyProxy;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.DatabaseServer;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import dev.postrider.torture.mutant.Mutants;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Everything that a run starts: a database, processes with their proxies, the feed and the receiver. Closes all of it. */
final class Site implements AutoCloseable {

    static final int WORKERS = 4;

    private static final int PRODUCERS = 2;
    private static final int CALLERS = 2;
    private static final Duration SHARE_LIMIT = Duration.ofSeconds(60);

    private final Path directory;
    private final @Nullable Path mutant;
    private final Random seeds;
    private final DatabaseServer server;
    private final Database database;
    private final Database application;
    private final Pace pace;
    private final boolean trouble;
    private final Tally tally;
    private final Feed feed;
    private final Receiver receiver;
    private final AtomicInteger numbers = new AtomicInteger();
    private final Deque<AutoCloseable> started = new ArrayDeque<>();
    private final List<Slot> workers = new ArrayList<>();
    private final List<Slot> producers = new ArrayList<>();
    private final List<Slot> consumers = new ArrayList<>();
    private final List<Slot> callers = new ArrayList<>();

    /** @param random the source of all seeds */
    Site(Arguments arguments, Random random) {
        directory = arguments.directory();
        pace = Pace.of(arguments);
        trouble = arguments.trouble();
        tally = new Tally(arguments.messages());
        seeds = new Random(random.nextLong());
        makeDirectory();
        mutant = made(arguments.mutant());
        server = Databases.start(arguments.engine());
        started.push(server);
        try {
            database = server.createDatabase("torture");
            migrate();
            application = ApplicationUser.create(engine(), database, repository());
            feed = opened(new Feed(seeds.nextLong()));
            receiver = opened(new Receiver(
                    opened(journal("receiver")), feed, tally, arguments.faults().isEmpty(), seeds.nextLong()));
            fill(workers, WORKERS, number -> slot("worker-slot-" + number, WorkerProgram.class, receiver.port()));
            fill(producers, PRODUCERS, number -> slot("producer-slot-" + number, ProducerProgram.class, 0));
            fill(consumers, 1, number -> slot("consumer-slot-" + number, ConsumerProgram.class, feed.port()));
            fill(callers, CALLERS, number -> slot("caller-slot-" + number, CallerProgram.class, 0));
        } catch (SQLException | RuntimeException e) {
            close();
            throw new IllegalStateException("The run could not begin", e);
        }
    }

    /** Creates the directory. An existing one must be empty: mixed evidence of two runs proves nothing. */
    private void makeDirectory() {
        try {
            Files.createDirectories(directory);
            try (var files = Files.list(directory)) {
                if (files.findAny().isPresent()) {
                    throw new IllegalArgumentException(directory + " is not empty: name another, or remove it");
                }
            }
            Files.createDirectories(directory.resolve("logs"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Compiles the mutant. The schema is always right: this process creates it, without the mutant. */
    private @Nullable Path made(@Nullable String name) {
        if (name == null) {
            return null;
        }
        Mutants mutants = Mutants.in(repository());
        return mutants.make(
                mutants.get(name), directory.resolve("mutant").toAbsolutePath(), System.getProperty("java.class.path"));
    }

    private static Path repository() {
        return Path.of(System.getProperty("postrider.repository", "."));
    }

    private void migrate() throws SQLException {
        try (Postrider postrider =
                Business.configured(database.dataSource(), topic -> {}).build()) {
            postrider.migrate();
        }
        try (Connection connection = database.dataSource().getConnection()) {
            Tables.create(engine(), connection);
        }
    }

    private <T extends AutoCloseable> T opened(T closeable) {
        started.push(closeable);
        return closeable;
    }

    private static void fill(List<Slot> slots, int count, IntFunction<Slot> make) {
        for (int number = 1; number <= count; number++) {
            slots.add(make.apply(number));
        }
    }

    private Slot slot(String name, Class<?> program, int port) {
        FaultyProxy proxy = opened(FaultyProxy.before(database.jdbcUrl()));
        Child.Start plain = new Child.Start(program, mutant, Map.of(), List.of());
        return new Slot(name, proxy, start -> start(start == null ? plain : start, proxy, port));
    }

    private Child start(Child.Start start, FaultyProxy proxy, int port) {
        Database behind = new Database(application.name(), proxy.jdbcUrl(), application.user(), application.password());
        long seed;
        synchronized (seeds) {
            seed = seeds.nextLong();
        }
        return Child.start(
                start,
                new Assignment(engine(), behind, directory, numbers.incrementAndGet(), seed, port, pace, trouble));
    }

    /** Starts all processes and waits until they are ready. Workers come first: they declare the topics that the others use. */
    void begin() throws InterruptedException {
        if (trouble) {
            opened(new LockHolder(database, pace.lease()));
        }
        share();
        workers.forEach(Slot::start);
        for (Slot worker : workers) {
            worker.awaitReady();
        }
        producers.forEach(Slot::start);
        consumers.forEach(Slot::start);
        callers.forEach(Slot::start);
        for (Slot slot : all()) {
            slot.awaitReady();
        }
    }

    /** Starts and stops one worker to write the class archive. */
    private void share() throws InterruptedException {
        Slot first = workers.get(0);
        first.start(new Child.Start(WorkerProgram.class, mutant, Map.of(), SharedClasses.written(directory)));
        first.awaitReady();
        first.current().stop(SHARE_LIMIT);
    }

    /** Starts an additional worker, which uses the proxy of another. */
    Child anotherWorker() {
        return start(
                new Child.Start(WorkerProgram.class, mutant, Map.of(), List.of()),
                workers.get(0).proxy(),
                receiver.port());
    }

    Engine engine() {
        return server.engine();
    }

    DatabaseServer server() {
        return server;
    }

    Database database() {
        return database;
    }

    Path directory() {
        return directory;
    }

    @Nullable
    Path mutant() {
        return mutant;
    }

    Tally tally() {
        return tally;
    }

    Feed feed() {
        return feed;
    }

    Receiver receiver() {
        return receiver;
    }

    List<Slot> workers() {
        return workers;
    }

    List<Slot> producers() {
        return producers;
    }

    List<Slot> consumers() {
        return consumers;
    }

    List<Slot> callers() {
        return callers;
    }

    List<Slot> all() {
        List<Slot> all = new ArrayList<>(workers);
        all.addAll(producers);
        all.addAll(consumers);
        all.addAll(callers);
        return all;
    }

    /** The number of processes started so far. */
    int processes() {
        return numbers.get();
    }

    /** Opens a journal of the harness. */
    Journal journal(String name) {
        return Journal.at(directory.resolve(name + ".journal"));
    }

    /** The single number that the query returns. */
    long count(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** The first column of each row. */
    Set<String> texts(String sql) throws SQLException {
        Set<String> texts = new HashSet<>();
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            while (rows.next()) {
                texts.add(rows.getString(1));
            }
        }
        return texts;
    }

    /** The ids of all dead letters, including removed ones. */
    Set<String> dead() throws SQLException {
        String id = engine() == Engine.POSTGRESQL_18 ? "id::text" : InnoDbTriggers.uuid("id");
        return texts("SELECT " + id + " FROM postrider_message WHERE state = 'DEAD'"
                + " UNION SELECT message_id FROM torture_transition WHERE from_state = 'DEAD' AND to_state IS NULL");
    }

    /** The number of messages that are still to be delivered or handled. */
    long backlog() throws SQLException {
        return count("SELECT COUNT(*) FROM postrider_message WHERE state <> 'DEAD'");
    }

    /** Kills the remaining processes, and closes the rest. */
    @Override
    public void close() {
        Child.killAll();
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
