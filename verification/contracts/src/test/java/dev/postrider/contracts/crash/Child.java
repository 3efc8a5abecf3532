package dev.postrider.contracts.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A program of these tests in a process of its own, and all that it has said. It ends with the test, whatever happens.
 *
 * <p>It speaks into a file, not into a pipe: when a process ends, {@link Process} empties and closes its pipes while they are
 * being read, and the last lines of a killed one can be lost.
 */
final class Child implements AutoCloseable {

    /** @param nanos when the test heard it */
    record Line(String word, List<String> values, long nanos) {

        String value() {
            return values.get(0);
        }

        int number() {
            return Integer.parseInt(values.get(1));
        }
    }

    private static final long LOOK_EVERY = TimeUnit.MICROSECONDS.toNanos(500);

    private final String name;
    private final Process process;
    private final Path journal;
    private final Path errors;
    private final Queue<Line> lines = new ConcurrentLinkedQueue<>();
    private final Thread listener = new Thread(this::listen);

    private Child(String name, Process process, Path journal, Path errors) {
        this.name = name;
        this.process = process;
        this.journal = journal;
        this.errors = errors;
        listener.setDaemon(true);
        listener.start();
    }

    /** Starts a program whose class has a main method; small, and quick to start rather than quick to run. */
    static Child start(String name, Class<?> program, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(arguments);
        try {
            Path journal = Files.createTempFile(name, ".out");
            Path errors = Files.createTempFile(name, ".err");
            Process process = new ProcessBuilder(command)
                    .redirectOutput(journal.toFile())
                    .redirectError(errors.toFile())
                    .start();
            return new Child(name, process, journal, errors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Follows the journal to the end that it has when the process is dead. */
    private void listen() {
        try (BufferedReader reader = Files.newBufferedReader(journal)) {
            StringBuilder line = new StringBuilder();
            boolean dead = false;
            while (true) {
                int character = reader.read();
                if (character == '\n') {
                    hear(line.toString());
                    line.setLength(0);
                } else if (character >= 0) {
                    line.append((char) character);
                } else if (dead) {
                    return;
                } else {
                    dead = !process.isAlive(); // asked before the next read, which then finds all there is
                    LockSupport.parkNanos(LOOK_EVERY);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void hear(String line) {
        List<String> words = Arrays.asList(line.split(" ", -1));
        lines.add(new Line(words.get(0), words.subList(1, words.size()), System.nanoTime()));
    }

    /** Gives a command. */
    void tell(String command) {
        try {
            process.outputWriter(StandardCharsets.UTF_8)
                    .append(command)
                    .append('\n')
                    .flush();
        } catch (IOException e) {
            throw new UncheckedIOException(this + " cannot be told to " + command, e);
        }
    }

    /** Gives a command and waits until the child says that it did it. */
    void order(String command) {
        long before = count("did");
        tell(command);
        await("did", before + 1);
    }

    /** What it has said with this first word, in its order. */
    List<Line> said(String word) {
        return lines.stream().filter(line -> line.word().equals(word)).toList();
    }

    long count(String word) {
        return lines.stream().filter(line -> line.word().equals(word)).count();
    }

    void await(String word, long atLeast) {
        Await.until(() -> this + " said '" + word + "' " + count(word) + " times, not " + atLeast, () -> {
            if (!process.isAlive() && count(word) < atLeast) {
                throw new AssertionError(this + " ended by itself");
            }
            return count(word) >= atLeast;
        });
    }

    /** Kills it as {@code kill -9} does, and returns when it is dead and everything it said was heard. Says when it died. */
    long kill() {
        process.destroyForcibly();
        long killed = System.nanoTime();
        awaitEnd();
        return killed;
    }

    /** Stops it where it is, as if the machine had frozen. */
    void freeze() {
        signal("STOP");
    }

    void thaw() {
        signal("CONT");
    }

    private void signal(String signal) {
        try {
            int status = new ProcessBuilder("sh", "-c", "kill -" + signal + " \"$0\"", Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new AssertionError("kill -" + signal + " gave " + status);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted", e);
        }
    }

    private void awaitEnd() {
        Await.until(() -> this + " does not end", () -> !process.isAlive() && !listener.isAlive());
    }

    @Override
    public void close() {
        process.destroyForcibly();
        awaitEnd();
        try {
            Files.delete(journal);
            Files.delete(errors);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String toString() {
        return name + " (process " + process.pid() + (process.isAlive() ? "" : ", dead") + complaints() + ")";
    }

    private String complaints() {
        try {
            String text = Files.readString(errors);
            return text.isBlank() ? "" : ", " + text.strip();
        } catch (IOException e) {
            return ", its complaints cannot be read: " + e;
        }
    }
}
