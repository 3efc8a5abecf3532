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

/** The directory of a demo, gone when the demo is, even if that was killed. */
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
     * The server is nobody's child and would outlive a killed demo. A shell that reads from this process sees the pipe end then,
     * stops the server and removes the directory. Windows has no such shell; there both stay.
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
            // Gone already.
        } catch (IOException e) {
            throw new UncheckedIOException("The directory " + directory + " could not be removed", e);
        }
    }
}
