package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The server program of one engine on this machine, with the details that differ between the engines. */
interface Installation {

    /** An initialised data directory. Every server gets a copy, because copying is faster than initialising. */
    Path dataTemplate();

    /** The command that runs the server in the foreground. {@code directory} belongs to this server and contains {@code data}. */
    List<String> startCommand(Path directory, int port);

    /** The environment variables of the server, in addition to those of this JVM. */
    Map<String, String> environment();

    /**
     * The command that stops a server, also while it has clients. Empty if a killed server leaves nothing outside its directory.
     * Otherwise a killed server is started again and then stopped by this command, to clean up.
     */
    List<String> stopCommand(Path directory);

    /** The database that exists from the start. */
    Database home(int port);

    /** The database of this name, which need not exist yet. */
    Database database(int port, String name);

    /** Finds the installation of an engine, or throws {@link DatabaseUnavailableException} with the reason. */
    @FunctionalInterface
    interface Locator {
        Installation locate(Engine engine) throws IOException;
    }
}
