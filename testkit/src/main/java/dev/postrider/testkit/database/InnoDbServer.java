package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The common parts of the MariaDB and MySQL installations. */
final class InnoDbServer {

    static final String USER = "postrider";
    static final String PASSWORD = "postrider";

    private InnoDbServer() {}

    /**
     * Writes the statements that the server executes at every start. They create a user that can connect by TCP. The initial user can
     * connect only by a socket or from a host named localhost.
     */
    static void writeInitFile(Path file) throws IOException {
        Files.writeString(file, """
                CREATE USER IF NOT EXISTS '%1$s'@'%%' IDENTIFIED BY '%2$s';
                GRANT ALL PRIVILEGES ON *.* TO '%1$s'@'%%' WITH GRANT OPTION;
                """.formatted(USER, PASSWORD));
    }

    static List<String> startCommand(Path server, Path base, Path directory, int port, Path initFile) {
        List<String> command = new ArrayList<>(List.of(
                server.toString(),
                "--no-defaults", // must come first
                "--basedir=" + base,
                "--datadir=" + directory.resolve("data"),
                "--port=" + port,
                "--bind-address=127.0.0.1",
                // Relative to the data directory: the absolute path may be too long for a socket.
                "--socket=server.sock",
                "--pid-file=server.pid",
                "--skip-name-resolve",
                "--init-file=" + initFile,
                "--max-connections=300",
                "--innodb-flush-log-at-trx-commit=1"));
        if (!Fsync.isOn()) {
            command.add("--innodb-flush-method=nosync");
        }
        command.addAll(asRoot());
        return command;
    }

    static List<String> asRoot() {
        return Machine.isRoot() ? List.of("--user=root") : List.of();
    }
}
