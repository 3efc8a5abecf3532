package dev.postrider.torture;

import dev.postrider.error.StoreException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The harness, as seen from a child process: orders come in by the standard input, answers go out by the standard output. */
final class Parent {

    private static final long PAUSE_NANOS = 200_000_000;
    private static final Optional<ProcessHandle> HARNESS =
            ProcessHandle.current().parent();

    private Parent() {}

    static synchronized void tell(String word) {
        System.out.println(word);
        System.out.flush();
    }

    /** Does what it is told until there is nobody left to tell it; then the process ends, however busy it is. */
    static void obey(Consumer<String[]> order) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            order.accept(line.split(" ", -1));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Does what needs the database, again and again until it is there, as a process that somebody supervises would. */
    static <T> T insist(Supplier<T> work) {
        while (true) {
            try {
                return work.get();
            } catch (StoreException e) {
                System.err.println(Journal.now() + " tries again: " + e.getMessage());
                LockSupport.parkNanos(PAUSE_NANOS);
                leaveIfAlone();
            }
        }
    }

    /** Nobody hears that the harness is gone before it listens for orders. */
    private static void leaveIfAlone() {
        if (HARNESS.isEmpty() || !HARNESS.get().isAlive()) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Ends this process after everything was put away. */
    static void leave() {
        tell("left");
        Runtime.getRuntime().halt(0);
    }

    /** A thread that does not keep the process alive. */
    static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
