package dev.postrider.server;

import dev.postrider.server.cli.ExitCode;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Turns Ctrl-C and SIGTERM into an orderly shutdown. The command receives the request and ends by itself, and its exit
 * code replaces the 130 or 143 of a killed process. Thread-safe.
 */
final class Shutdown {

    private final CompletableFuture<Void> asked = new CompletableFuture<>();
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

    /**
     * Makes a signal wait for the command to end, up to this time. Without this call a signal ends the process at once.
     */
    void takeOver(Duration patience) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(patience), "postrider-shutdown"));
    }

    /**
     * Ends the process after a signal. Only a halt within a shutdown hook lets the process choose its exit code in that
     * case.
     */
    private void end(Duration patience) {
        if (exitCode.isDone()) {
            // Not a signal: the command has ended by itself, and the process ends with its code.
            return;
        }
        ask();
        int code = exitCode.completeOnTimeout(ExitCode.FAILED, patience.toMillis(), TimeUnit.MILLISECONDS)
                .join();
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    void ask() {
        asked.complete(null);
    }

    /** Waits, and returns true as soon as a shutdown is requested. */
    boolean isAskedWithin(Duration wait) {
        return awaitFirst(asked, wait);
    }

    /** Waits for the work or for a shutdown request, up to the limit. True if one of them came. */
    boolean awaitFirst(CompletableFuture<?> work, Duration limit) {
        CompletableFuture<Object> first = CompletableFuture.anyOf(asked, work);
        try {
            first.get(Math.max(limit.toNanos(), 0), TimeUnit.NANOSECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            return true; // The owner of the work reads its failure.
        } catch (InterruptedException e) {
            ask();
            Thread.currentThread().interrupt();
            return true;
        }
    }

    void await() {
        isAskedWithin(Duration.ofNanos(Long.MAX_VALUE));
    }

    void finished(int code) {
        exitCode.complete(code);
    }
}
