package dev.postrider.testkit.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server that runs as a child process of this JVM and has its own directory. */
final class ProcessServer implements DatabaseServer {

    private static final Logger LOG = LoggerFactory.getLogger(ProcessServer.class);

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration POLL_INTERVAL = Duration.ofMillis(25);
    private static final int START_ATTEMPTS = 5;
    private static final Duration RETRY_INTERVAL = Duration.ofMillis(100);
    private static final Duration RESTART_LIMIT = Duration.ofSeconds(30);

    private final Engine engine;
    private final Installation installation;
    private final Path directory;
    private final int port;
    private final DatabaseNames names = new DatabaseNames();
    private final Thread shutdownHook = new Thread(this::stopAndDelete, "postrider-database-shutdown");
    private volatile @Nullable ServerProcess process;
    private boolean crashed;
    private boolean closed;

    private ProcessServer(Engine engine, Installation installation, Path directory, int port) {
        this.engine = engine;
        this.installation = installation;
        this.directory = directory;
        this.port = port;
    }

    static ProcessServer start(Engine engine, Installation.Locator locator) {
        try {
            Installation installation = locator.locate(engine);
            int port = FreePort.find();
            Drivers.require(engine, installation.home(port).jdbcUrl());
            ProcessServer server =
                    new ProcessServer(engine, installation, EngineDirectory.newServerDirectory(engine), port);
            server.startFirst(data -> FileTrees.copy(installation.dataTemplate(), data));
            return server;
        } catch (IOException e) {
            throw new DatabaseUnavailableException(
                    engine, "its files cannot be used: " + e, "check " + EngineDirectory.path(), e);
        } catch (NoClassDefFoundError e) {
            throw new DatabaseUnavailableException(
                    engine,
                    "a class is missing: " + e.getMessage(),
                    "add the optional dependency of postrider-testkit that brings this engine",
                    e);
        }
    }

    /** Creates the data directory of a server. */
    @FunctionalInterface
    interface Data {
        void make(Path directory) throws IOException;
    }

    /** Starts another server of the same installation, with its own port and data. */
    ProcessServer another(Data data) throws IOException {
        ProcessServer server =
                new ProcessServer(engine, installation, EngineDirectory.newServerDirectory(engine), FreePort.find());
        server.startFirst(data);
        return server;
    }

    private synchronized void startFirst(Data data) throws IOException {
        Runtime.getRuntime().addShutdownHook(shutdownHook);
        try {
            data.make(data());
            launch(Duration.ZERO);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** Starts the server again. The shared memory of a killed server is free only when the last of its processes has unmapped it. */
    private void launchAgain() throws IOException {
        launch(RESTART_LIMIT);
    }

    /** Starts the server. Tries again if the server ends at once, a few times and at least for the given time. */
    private void launch(Duration atLeast) throws IOException {
        long begin = System.nanoTime();
        for (int attempt = 1; attempt <= START_ATTEMPTS || System.nanoTime() - begin < atLeast.toNanos(); attempt++) {
            ServerProcess started = ServerProcess.start(
                    installation.startCommand(directory, port), installation.environment(), directory);
            process = started;
            crashed = false;
            if (awaitConnections(started)) {
                Duration taken = Duration.ofNanos(System.nanoTime() - begin);
                LOG.info("{} accepts connections on port {} after {} ms", engine.displayName(), port, taken.toMillis());
                return;
            }
            started.kill();
            LOG.warn("{} ended while starting, attempt {}", engine.displayName(), attempt);
            LockSupport.parkNanos(RETRY_INTERVAL.toNanos());
        }
        throw StartupFailure.explain(
                engine, "the server ended while starting", Command.read(ServerProcess.log(directory)));
    }

    private boolean awaitConnections(ServerProcess started) throws IOException {
        long deadline = System.nanoTime() + START_LIMIT.toNanos();
        String refusal = "";
        try {
            while (System.nanoTime() - deadline < 0) {
                try (Connection connection = dataSource().getConnection()) {
                    return connection.isValid(10);
                } catch (SQLException e) {
                    refusal = e.getMessage();
                }
                if (started.endsWithin(POLL_INTERVAL)) {
                    return false;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while starting " + engine.displayName(), e);
        }
        throw StartupFailure.explain(
                engine,
                "no connection within " + START_LIMIT.toSeconds() + " s (" + refusal + ")",
                Command.read(ServerProcess.log(directory)));
    }

    @Override
    public Engine engine() {
        return engine;
    }

    @Override
    public String jdbcUrl() {
        return installation.home(port).jdbcUrl();
    }

    @Override
    public String user() {
        return installation.home(port).user();
    }

    @Override
    public String password() {
        return installation.home(port).password();
    }

    @Override
    public DataSource dataSource() {
        return installation.home(port).dataSource();
    }

    @Override
    public Database createDatabase(String prefix) {
        Database database = installation.database(port, names.next(prefix));
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + database.name());
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot create the database " + database.name() + " in " + this, e);
        }
        return database;
    }

    @Override
    public synchronized void crash() {
        requireOpen();
        current().kill();
        crashed = true;
    }

    @Override
    public synchronized void restart() {
        requireOpen();
        current().kill();
        try {
            launchAgain();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Stops this server and moves its data to another server of the same engine, where it replaces the data of that server. The other
     * server must be down. It uses the new data after its restart.
     */
    synchronized void bequeath(ProcessServer heir) throws IOException {
        requireOpen();
        if (heir.current().isAlive()) {
            throw new IllegalStateException(heir + " is still running: crash it first");
        }
        stop();
        FileTrees.delete(heir.data());
        Files.move(data(), heir.data());
        process = null;
        close();
    }

    @Override
    public long pid() {
        return current().pid();
    }

    int port() {
        return port;
    }

    Path data() {
        return directory.resolve("data");
    }

    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        stopAndDelete();
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (IllegalStateException e) {
            LOG.trace("The JVM is shutting down: the shutdown hook has nothing to do", e);
        }
    }

    private synchronized void stopAndDelete() {
        if (closed) {
            return;
        }
        closed = true;
        stop();
        try {
            FileTrees.delete(directory);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot delete " + directory, e);
        }
    }

    private void stop() {
        List<String> command = installation.stopCommand(directory);
        try {
            if (!command.isEmpty() && crashed) {
                launchAgain();
            }
            if (!command.isEmpty() && process != null) {
                LOG.debug("{} stopped: {}", engine.displayName(), Command.run(command));
            }
        } catch (IOException | DatabaseUnavailableException e) {
            LOG.warn("{} did not stop and is killed", engine.displayName(), e);
        } finally {
            ServerProcess last = process;
            if (last != null) {
                last.kill();
            }
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException(this + " is closed");
        }
    }

    private ServerProcess current() {
        ServerProcess current = process;
        if (current == null) {
            throw new IllegalStateException(this + " was not started");
        }
        return current;
    }

    @Override
    public String toString() {
        return engine.displayName() + " at " + jdbcUrl();
    }
}
