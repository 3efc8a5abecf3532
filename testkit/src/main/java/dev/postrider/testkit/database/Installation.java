package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** The server program of one engine on this machine, and all that differs between the engines in running it. */
interface Installation {

    /** An initialised data directory, which every server gets a copy of: copying is quicker than initialising. */
    Path dataTemplate();

    /** Runs the server in the foreground. {@code directory} is the server's own and holds {@code data}. */
    List<String> startCommand(Path directory, int port);

    /** What the server needs in its environment besides what this JVM has. */
    Map<String, String> environment();

    /**
     * Ends a server whether it has clients or not; empty if killing it leaves nothing behind outside its directory. What a
     * killed one has left behind is cleared away by starting it once more and ending it so.
     */
    List<String> stopCommand(Path directory);

    /** The database that is there from the start. */
    Database home(int port);

    /** A database of that name, which need not exist yet. */
    Database database(int port, String name);

    /** Finds an installation, or says why there is none. */
    @FunctionalInterface
    interface Locator {
        Installation locate(Engine engine) throws IOException;
    }
}
