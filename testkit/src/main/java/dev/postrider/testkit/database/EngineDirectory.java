package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/** The directory with the engine binaries, the prepared installations, and the data of the running servers. */
final class EngineDirectory {

    static final String PROPERTY = "postrider.engines";

    private EngineDirectory() {}

    /** Fills an empty directory. */
    @FunctionalInterface
    interface Preparation {
        void fill(Path directory) throws IOException;
    }

    /** The value of {@value #PROPERTY}; by default, a directory of this user among the temporary files. */
    static Path path() {
        String configured = System.getProperty(PROPERTY);
        return configured != null
                ? Path.of(configured).toAbsolutePath()
                : Path.of(System.getProperty("java.io.tmpdir"), "postrider-engines-" + System.getProperty("user.name"))
                        .toAbsolutePath();
    }

    /**
     * Returns a directory that is created once and then used by all JVMs. The directory is filled under another name and then
     * renamed, so it is either complete or absent. While one JVM fills it, the others wait.
     */
    static synchronized Path prepared(String name, Preparation preparation) throws IOException {
        Path prepared = path().resolve("prepared");
        Path complete = prepared.resolve(name);
        if (Files.isDirectory(complete)) {
            return complete;
        }
        Files.createDirectories(prepared);
        try (FileChannel channel = FileChannel.open(
                        prepared.resolve(name + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            if (lock.isValid() && !Files.isDirectory(complete)) {
                Path partial = prepared.resolve(name + ".partial");
                FileTrees.delete(partial);
                Files.createDirectory(partial);
                preparation.fill(partial);
                Files.move(partial, complete, StandardCopyOption.ATOMIC_MOVE);
            }
        }
        return complete;
    }

    /** Creates a directory for the data of one server. */
    static Path newServerDirectory(Engine engine) throws IOException {
        Path running = Files.createDirectories(path().resolve("running"));
        return Files.createTempDirectory(running, engine.name().toLowerCase(Locale.ROOT) + "-");
    }
}
