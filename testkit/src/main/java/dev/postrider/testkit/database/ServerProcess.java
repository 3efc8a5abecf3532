package dev.postrider.testkit.database;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The operating system process of one run of a server. */
final class ServerProcess {

    private static final Duration DEATH_LIMIT = Duration.ofSeconds(60);

    private final Process process;
    private final @Nullable Process watchdog;

    private ServerProcess(Process process, @Nullable Process watchdog) {
        this.process = process;
        this.watchdog = watchdog;
    }

    /** Starts a server. All its files are in one directory, also the log of its output. */
    static ServerProcess start(List<String> command, Map<String, String> environment, Path directory)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log(directory).toFile()));
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            return new ServerProcess(process, watchdog(process.pid(), directory));
        } catch (IOException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /**
     * Starts a shell that stops the server and deletes its directory if this JVM dies without running its shutdown hooks. The shell
     * reads from a pipe of this JVM, and continues when the pipe closes. It sends SIGQUIT before SIGKILL, so that PostgreSQL frees its
     * shared memory.
     */
    private static @Nullable Process watchdog(long pid, Path directory) throws IOException {
        if (Machine.isWindows()) {
            return null;
        }
        String script = "read nothing; kill -QUIT \"$0\"; sleep 5; kill -9 \"$0\"; rm -rf \"$1\"";
        return new ProcessBuilder("sh", "-c", script, Long.toString(pid), directory.toString())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    /** The file with the output of the server. */
    static Path log(Path directory) {
        return directory.resolve("server.log");
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end of the server; true as soon as it has ended, false after the given time. */
    boolean endsWithin(Duration patience) throws InterruptedException {
        return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Kills the server and all its children, and returns when they have ended. */
    void kill() {
        stopHavingChildren();
        List<ProcessHandle> family = Stream.concat(Stream.of(process.toHandle()), process.descendants())
                .toList();
        family.forEach(ProcessHandle::destroyForcibly);
        if (watchdog != null) {
            watchdog.destroyForcibly();
        }
        awaitEnd(family);
    }

    /**
     * Stops the main process by SIGSTOP, so that it starts no more children while they are listed and killed. An orphaned child of
     * PostgreSQL keeps the shared memory in use for a while, and no new server starts until it ends.
     */
    private void stopHavingChildren() {
        if (Machine.isWindows() || !process.isAlive()) {
            return;
        }
        try {
            new ProcessBuilder("sh", "-c", "kill -STOP \"$0\"", Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .waitFor(DEATH_LIMIT.toSeconds(), TimeUnit.SECONDS);
            awaitStopped();
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run sh", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits on Linux until the signal has taken effect: a process that runs on another processor can still start a child. */
    private void awaitStopped() {
        Path status = Path.of("/proc", Long.toString(process.pid()), "stat");
        long deadline = System.nanoTime() + DEATH_LIMIT.toNanos();
        while (Files.exists(status) && !isStopped(status) && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    /** Whether a process is stopped (T) or has ended (Z, or no status any more). The state follows the name in parentheses. */
    private static boolean isStopped(Path status) {
        try {
            String text = Files.readString(status);
            char state = text.charAt(text.lastIndexOf(')') + 2);
            return state == 'T' || state == 'Z';
        } catch (IOException e) {
            return true;
        }
    }

    static void awaitEnd(List<ProcessHandle> processes) {
        long deadline = System.nanoTime() + DEATH_LIMIT.toNanos();
        while (processes.stream().anyMatch(ServerProcess::isRunning)) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("Did not end within " + DEATH_LIMIT.toSeconds() + " s: " + processes);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
    }

    /** Whether a process runs. The JDK reports a zombie process as alive, but a zombie has no command. */
    static boolean isRunning(ProcessHandle handle) {
        return handle.isAlive() && handle.info().command().isPresent();
    }
}
