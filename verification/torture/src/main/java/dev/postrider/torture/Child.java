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

/** A process of the run. It is killed when the harness ends, and it ends itself when the harness no longer exists. */
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
     * @param first classes that come first on the class path; null for none
     * @param environment additional environment variables
     * @param options options of the Java virtual machine
     */
    record Start(Class<?> program, @Nullable Path first, Map<String, String> environment, List<String> options) {}

    /** Starts a program. The JVM options favour little memory and a fast start over speed. */
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
                child.kill(); // the shutdown hook has already run
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
            // the process was killed
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

    /** Whether the process has reported that it is ready and is still alive. */
    boolean isAtWork() {
        return ready.getCount() == 0 && process.isAlive();
    }

    /** Waits until the process is ready. Returns false if it died before or the time is over. */
    boolean awaitReady(Duration atMost) throws InterruptedException {
        return ready.await(atMost.toMillis(), TimeUnit.MILLISECONDS) && process.isAlive();
    }

    /** Waits until a caller process has final answers to all commands. */
    boolean awaitSettled(Duration atMost) throws InterruptedException {
        return settled.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Sends an order. An order to a dead process is lost, which is not an error of the run. */
    synchronized void tell(String order) {
        try {
            process.outputWriter(StandardCharsets.UTF_8)
                    .append(order)
                    .append('\n')
                    .flush();
        } catch (IOException e) {
            // the process is dead
        }
    }

    /** Kills the process as {@code kill -9} does, and returns when it is dead. */
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

    /** Orders a graceful stop. If the time is over, kills the process and returns false. */
    boolean stop(Duration atMost) throws InterruptedException {
        tell("stop");
        boolean ended = process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS);
        kill();
        return ended && process.exitValue() == 0;
    }

    /**
     * Freezes the process for this time, as if the computer had stopped. A shell sends the signal to continue, so that the process
     * does not stay frozen if this process dies meanwhile.
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
