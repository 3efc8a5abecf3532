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

/** The harness, as seen from a child process. Orders arrive on the standard input, answers go to the standard output. */
final class Parent {

    private static final long PAUSE_NANOS = 200_000_000;
    private static final Optional<ProcessHandle> HARNESS =
            ProcessHandle.current().parent();

    private Parent() {}

    static synchronized void tell(String word) {
        System.out.println(word);
        System.out.flush();
    }

    /** Executes orders until the standard input ends, because the harness has ended. Then halts the process. */
    static void obey(Consumer<String[]> order) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            order.accept(line.split(" ", -1));
        }
        Runtime.getRuntime().halt(0);
    }

    /** Repeats work that needs the database until it succeeds, as a supervised process would. */
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

    /** Halts the process if the harness no longer exists. Only needed before {@link #obey} reads the standard input. */
    private static void leaveIfAlone() {
        if (HARNESS.isEmpty() || !HARNESS.get().isAlive()) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Ends this process after a graceful stop. */
    static void leave() {
        tell("left");
        Runtime.getRuntime().halt(0);
    }

    /** Starts a thread that does not keep the process alive. */
    static Thread daemon(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
