package dev.postrider.torture;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A process of the run. It is killed when the harness ends, and ends by itself when it finds the harness gone. */
final class Child {

    private static final Set<Child> ALIVE = ConcurrentHashMap.newKeySet();
    private static final Duration DEATH_LIMIT = Duration.ofSeconds(60);
    private static volatile boolean ending;

    static {
        Runtime.getRuntime()
                .addShutdownHook(new Thread(
                        () -> {
                            ending = true;
                            killAll();
                        },
                        "torture-children"));
    }

    private final int number;
    private final Process process;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final CountDownLatch settled = new CountDownLatch(1);

    private Child(int number, Process process) {
        this.number = number;
        this.process = process;
    }

    /**
     * How a program is started.
     *
     * @param first classes that come before all others; null for none
     * @param environment what it finds in its environment besides what everyone does
     * @param options for its virtual machine
     */
    record Start(Class<?> program, @Nullable Path first, Map<String, String> environment, List<String> options) {}

    /** Starts a program whose class has a main method; small, and quick to start rather than quick to run. */
    static Child start(Start start, Assignment assignment) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
        command.addAll(SharedClasses.used(assignment.directory()));
        command.addAll(start.options());
        command.addAll(List.of("-cp", classPath(start.first()), start.program().getName()));
        command.addAll(assignment.toArguments());
        Path log = assignment
                .directory()
                .resolve("logs")
                .resolve(start.program().getSimpleName() + "-" + assignment.number() + ".log");
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        builder.environment().putAll(start.environment());
        try {
            Child child = new Child(assignment.number(), builder.start());
            ALIVE.add(child);
            if (ending) {
                child.kill(); // what is started now is seen by nobody else
            }
            Parent.daemon("child-" + child.number, child::listen);
            return child;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String classPath(@Nullable Path first) {
        String classPath = System.getProperty("java.class.path");
        return first == null ? classPath : first + System.getProperty("path.separator") + classPath;
    }

    private void listen() {
        try (BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = answers.readLine(); line != null; line = answers.readLine()) {
                switch (line) {
                    case "ready" -> ready.countDown();
                    case "settled" -> settled.countDown();
                    default -> {}
                }
            }
        } catch (IOException e) {
            // killed
        }
        ready.countDown();
        settled.countDown();
    }

    static void killAll() {
        ALIVE.forEach(Child::kill);
    }

    int number() {
        return number;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Whether it has come to work, and not ended since. */
    boolean isAtWork() {
        return ready.getCount() == 0 && process.isAlive();
    }

    /** Waits until it is at work; false if it died before, or takes too long. */
    boolean awaitReady(Duration atMost) throws InterruptedException {
        return ready.await(atMost.toMillis(), TimeUnit.MILLISECONDS) && process.isAlive();
    }

    /** Waits until a caller has no question open. */
    boolean awaitSettled(Duration atMost) throws InterruptedException {
        return settled.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Gives an order. One that is dead or dying does not hear it, which is no fault of the run. */
    synchronized void tell(String order) {
        try {
            process.outputWriter(StandardCharsets.UTF_8)
                    .append(order)
                    .append('\n')
                    .flush();
        } catch (IOException e) {
            // it is gone
        }
    }

    /** Kills it as {@code kill -9} does, and returns when it is dead. */
    void kill() {
        process.destroyForcibly();
        try {
            if (!process.waitFor(DEATH_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("Process " + process.pid() + " does not die");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        ALIVE.remove(this);
    }

    /** Asks it to put everything away and to end; false, and killed, if that takes too long. */
    boolean stop(Duration atMost) throws InterruptedException {
        tell("stop");
        boolean ended = process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS);
        kill();
        return ended && process.exitValue() == 0;
    }

    /**
     * Stops it where it is, as if the machine had frozen, for so long. It is a shell that lets it go on, so that nobody stays frozen if
     * this process dies meanwhile.
     */
    void freeze(Duration length) {
        String script = "kill -STOP \"$0\" && sleep \"$1\"; kill -CONT \"$0\"";
        String seconds = length.toMillis() / 1000 + "." + length.toMillis() % 1000 / 100;
        try {
            new ProcessBuilder("sh", "-c", script, Long.toString(process.pid()), seconds)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
