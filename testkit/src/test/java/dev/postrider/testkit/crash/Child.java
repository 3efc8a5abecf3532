package dev.postrider.testkit.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A program of these tests in a process of its own, and all that it has said. It ends with the test, whatever happens. */
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

    private final String name;
    private final Process process;
    private final Queue<Line> lines = new ConcurrentLinkedQueue<>();
    private final Queue<String> errors = new ConcurrentLinkedQueue<>();
    private final List<Thread> readers = new ArrayList<>();

    private Child(String name, Process process) {
        this.name = name;
        this.process = process;
        read(process.inputReader(StandardCharsets.UTF_8), this::hear);
        read(process.errorReader(StandardCharsets.UTF_8), errors::add);
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
            return new Child(name, new ProcessBuilder(command).start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(BufferedReader reader, java.util.function.Consumer<String> consumer) {
        Thread thread = new Thread(
                () -> {
                    try (reader) {
                        reader.lines().forEach(consumer);
                    } catch (IOException | UncheckedIOException e) {
                        errors.add("The pipe broke: " + e);
                    }
                },
                "child-" + name);
        thread.setDaemon(true);
        thread.start();
        readers.add(thread);
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
        Await.until(
                () -> this + " does not end",
                () -> !process.isAlive() && readers.stream().noneMatch(Thread::isAlive));
    }

    @Override
    public void close() {
        process.destroyForcibly();
        awaitEnd();
    }

    @Override
    public String toString() {
        return name + " (process " + process.pid() + (process.isAlive() ? "" : ", dead")
                + (errors.isEmpty() ? "" : ", " + errors) + ")";
    }
}
