package dev.postrider.server.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The temporary directory of a demo. It is removed with the demo, even if the demo was killed. */
final class Workplace implements AutoCloseable {

    private final Path directory;
    private @Nullable Process guard;

    private Workplace(Path directory) {
        this.directory = directory;
    }

    static Workplace create() {
        try {
            return new Workplace(Files.createTempDirectory("postrider-demo-"));
        } catch (IOException e) {
            throw new DemoUnavailableException("No temporary directory can be made: " + e, e);
        }
    }

    Path directory() {
        return directory;
    }

    /**
     * Starts a shell that cleans up after a killed demo. The server is not a child of this process and would outlive
     * it. The shell reads from a pipe of this process. When the pipe ends, the shell stops the server and removes the
     * directory. Windows has no such shell; there both stay.
     */
    void guardServer() throws IOException {
        if (System.getProperty("os.name").startsWith("Windows")) {
            return;
        }
        String pid = Files.readAllLines(directory.resolve("data").resolve("postmaster.pid"))
                .get(0);
        String script = "trap '' INT TERM HUP; read nothing; kill -QUIT \"$0\"; sleep 2; rm -rf \"$1\"";
        guard = new ProcessBuilder("sh", "-c", script, pid, directory.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Override
    public void close() {
        if (guard != null) {
            guard.destroyForcibly();
        }
        try (Stream<Path> files = Files.walk(directory)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (NoSuchFileException e) {
            // Already removed.
        } catch (IOException e) {
            throw new UncheckedIOException("The directory " + directory + " could not be removed", e);
        }
    }
}
