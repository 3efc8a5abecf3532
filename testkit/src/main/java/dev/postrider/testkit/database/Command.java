package dev.postrider.testkit.database;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program and waits until it ends. */
final class Command {

    private static final long LIMIT_SECONDS = 120;

    private Command() {}

    /** The exit code of a program, and its complete output. */
    record Outcome(int exitCode, String output) {}

    static Outcome run(List<String> command) throws IOException {
        // A file, because a pipe stays open as long as a child of the program has it open.
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

    /** Reads the output of a program. ISO 8859-1 accepts every byte, so the encoding of the program does not matter. */
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
        throw new IOException("Did not end within " + LIMIT_SECONDS + " s: " + command);
    }
}
