package dev.postrider.server;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Turns Ctrl-C and SIGTERM into an orderly end: the command is told, comes to its own end, and its own exit code counts instead
 * of the 130 or 143 of a killed process. Thread-safe.
 */
final class Shutdown {

    private final CompletableFuture<Void> asked = new CompletableFuture<>();
    private final CompletableFuture<Integer> exitCode = new CompletableFuture<>();

    /** From now on a signal waits for the command to end, up to this long. Without this call it ends the process at once. */
    void takeOver(Duration patience) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(patience), "postrider-shutdown"));
    }

    /** Only by halting within a hook can a process that was told to end choose its exit code. */
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

    /** Waits; true as soon as the end was asked for. */
    boolean isAskedWithin(Duration wait) {
        return awaitFirst(asked, wait);
    }

    /** Waits for the work or for a request to end, not longer than the limit. True if one of them came. */
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
