package dev.postrider.contracts.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs the cells of a crash matrix side by side. Each has its own database and processes, and waits more than it computes. */
final class Cells {

    private static final int AT_ONCE = 4;

    private Cells() {}

    /** One crash and what follows from it. */
    @FunctionalInterface
    interface Cell<T> {
        void run(T place) throws Exception;
    }

    /** Returns when all cells have ended. Throws an error with the failures of all cells, if there are any. */
    static <T> void run(List<T> places, Cell<T> cell) {
        ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
        List<Future<?>> running = new ArrayList<>();
        for (T place : places) {
            running.add(threads.submit(() -> {
                cell.run(place);
                return null;
            }));
        }
        threads.shutdown();
        AssertionError failure = new AssertionError("Cells failed");
        for (Future<?> each : running) {
            try {
                each.get();
            } catch (ExecutionException e) {
                failure.addSuppressed(e.getCause());
            } catch (InterruptedException e) {
                threads.shutdownNow();
                Thread.currentThread().interrupt();
                throw new AssertionError("Interrupted", e);
            }
        }
        if (failure.getSuppressed().length > 0) {
            throw failure;
        }
    }
}
