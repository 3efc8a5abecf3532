package dev.postrider.postgresql;

import dev.postrider.testkit.database.Database;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** A PgBouncer in a process of its own, in front of a database. */
final class PgBouncer implements AutoCloseable {

    private final Path directory;
    private final Process process;
    private final int port;
    private final Database database;

    private PgBouncer(Path directory, Process process, int port, Database database) {
        this.directory = directory;
        this.process = process;
        this.port = port;
        this.database = database;
    }

    /** Where it is installed, on this machine or by {@code -Dpostrider.pgbouncer=/path/to/it}. */
    static Optional<Path> program() {
        String path = System.getenv().getOrDefault("PATH", "") + ":/usr/sbin:/usr/local/sbin";
        Stream<Path> places = Stream.of(path.split(":")).map(folder -> Path.of(folder, "pgbouncer"));
        String given = System.getProperty("postrider.pgbouncer");
        return (given == null ? places : Stream.of(Path.of(given)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** @param mode {@code transaction} or {@code session} */
    static PgBouncer start(Path program, String mode, Database database) {
        try {
            Path directory = Files.createTempDirectory(
                    "pgbouncer", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
            int port = freePort();
            URI server = URI.create(database.jdbcUrl().substring("jdbc:".length()));
            Path settings = Files.writeString(directory.resolve("pgbouncer.ini"), """
                    [databases]
                    %s = host=%s port=%d user=%s password=%s
                    [pgbouncer]
                    listen_addr = 127.0.0.1
                    listen_port = %d
                    unix_socket_dir =
                    auth_type = any
                    pool_mode = %s
                    ignore_startup_parameters = extra_float_digits,search_path
                    """.formatted(
                            database.name(),
                            server.getHost(),
                            server.getPort(),
                            database.user(),
                            database.password(),
                            port,
                            mode));
            ProcessBuilder command = new ProcessBuilder(program.toString(), settings.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve("log").toFile());
            if (System.getProperty("user.name").equals("root")) {
                command.command().add(1, "--user=nobody"); // it refuses to be root
            }
            return new PgBouncer(directory, command.start(), port, database);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    DataSource dataSource() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setURL("jdbc:postgresql://127.0.0.1:" + port + "/" + database.name());
        dataSource.setUser(database.user());
        dataSource.setPassword(database.password());
        return dataSource;
    }

    String log() throws IOException {
        return Files.readString(directory.resolve("log"));
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        process.onExit().orTimeout(60, TimeUnit.SECONDS).join();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }
}
