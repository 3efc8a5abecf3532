package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A program that is run to its end. */
final class Command {

    private static final long LIMIT_SECONDS = 120;

    private Command() {}

    /** How a program ended: its exit code and all it printed. */
    record Outcome(int exitCode, String output) {}

    static Outcome run(List<String> command) throws IOException {
        // A file, since a pipe would stay open for as long as a grandchild holds it.
        Path output = Files.createTempFile("postrider-command-", ".log");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            int exitCode = exitCode(process, command);
            return new Outcome(exitCode, read(output));
        } finally {
            Files.deleteIfExists(output);
        }
    }

    /** What a program wrote, whatever encoding it believed in. */
    static String read(Path output) throws IOException {
        return Files.readString(output, StandardCharsets.ISO_8859_1);
    }

    private static int exitCode(Process process, List<String> command) throws IOException {
        try {
            if (process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                return process.exitValue();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while waiting for " + command, e);
        } finally {
            process.destroyForcibly();
        }
        throw new IOException("Not done within " + LIMIT_SECONDS + " s: " + command);
    }
}
