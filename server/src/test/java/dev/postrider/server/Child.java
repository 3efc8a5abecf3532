package dev.postrider.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The command line as a process of its own, as users run it. What it prints goes to a file. */
final class Child implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(3);

    private final Process process;
    private final Path output;

    private Child(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    static Child start(Path directory, String... arguments) throws IOException {
        return start(directory, Path.of(System.getProperty("java.io.tmpdir")), arguments);
    }

    static Child start(Path directory, Path temporary, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC", // quick to start rather than quick to run
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName()));
        command.addAll(List.of(arguments));
        Path output = directory.resolve("output.txt");
        return new Child(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start(),
                output);
    }

    String output() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void awaitOutput(String text) {
        Await.until(LIMIT, () -> output().contains(text) || !process.isAlive(), this::output);
        if (!output().contains(text)) {
            throw new AssertionError("Ended without printing '" + text + "': " + output());
        }
    }

    /** SIGTERM. */
    void terminate() {
        process.destroy();
    }

    /** SIGINT, as Ctrl-C sends it; SIGTERM where the tests run in the background and their children inherit that it is ignored. */
    void interrupt() throws IOException {
        if (ignoresInterrupts()) {
            System.err.println(
                    "NOT RUN: SIGINT is ignored here, as in every job in the background: SIGTERM in its place");
            terminate();
            return;
        }
        new ProcessBuilder("kill", "-INT", Long.toString(process.pid()))
                .inheritIO()
                .start();
    }

    /** A JVM that was started with SIGINT ignored leaves it so. */
    private static boolean ignoresInterrupts() throws IOException {
        Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return false;
        }
        String mask = Files.readAllLines(status).stream()
                .filter(line -> line.startsWith("SigIgn:"))
                .findFirst()
                .orElse("SigIgn:0");
        return (Long.parseUnsignedLong(mask.substring("SigIgn:".length()).strip(), 16) & 2) != 0;
    }

    int awaitExit() throws InterruptedException {
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("Still running: " + output());
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
