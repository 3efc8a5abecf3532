package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Order;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.ProcessorTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntSupplier;

/** Business transactions in eight threads. */
final class Load {

    static final int THREADS = 8;

    private Load() {}

    /** The number of transactions, and how they were done. */
    record Result(int transactions, Performance performance) {
        double perSecond() {
            return performance.perSecond();
        }
    }

    /** Called with the number of an order after its transaction, by the same thread. */
    @FunctionalInterface
    interface After {
        void transaction(int number);
    }

    /** At the maximum rate, for this time. */
    static Result full(Arena arena, Contender contender, Duration duration) throws Exception {
        AtomicInteger next = new AtomicInteger();
        return timed(arena, next::get, () -> {
            long end = System.nanoTime() + duration.toNanos();
            inThreads(() -> {
                while (System.nanoTime() - end < 0) {
                    contender.transact(new Order(next.getAndIncrement()));
                }
            });
        });
    }

    private static Result timed(Arena arena, IntSupplier count, Task task) throws Exception {
        ProcessorTime before = arena.processorTime();
        long start = System.nanoTime();
        task.run();
        double seconds = (System.nanoTime() - start) / 1e9;
        int done = count.getAsInt();
        return new Result(done, new Performance(done / seconds, seconds, arena.usedSince(before, done)));
    }

    /** This many transactions, at the maximum rate. */
    static void count(Arena arena, Contender contender, int transactions) throws Exception {
        each(arena, transactions, number -> contender.transact(new Order(number)));
    }

    /** A task for the number of an order. */
    @FunctionalInterface
    interface Numbered {
        void run(int number) throws Exception;
    }

    /** Runs the task once for each number below the count, at the maximum rate. */
    static Result each(Arena arena, int count, Numbered task) throws Exception {
        AtomicInteger next = new AtomicInteger();
        return timed(
                arena,
                () -> count,
                () -> inThreads(() -> {
                    for (int number = next.getAndIncrement(); number < count; number = next.getAndIncrement()) {
                        task.run(number);
                    }
                }));
    }

    /**
     * At a steady rate, independent of the duration of each transaction.
     *
     * @return the number of transactions
     */
    static int steady(Contender contender, double perSecond, Duration duration, After after) throws Exception {
        AtomicInteger next = new AtomicInteger();
        int count = Math.max((int) (perSecond * duration.toNanos() / 1e9), 1);
        long start = System.nanoTime();
        inThreads(() -> {
            for (int number = next.getAndIncrement(); number < count; number = next.getAndIncrement()) {
                long due = start + (long) (number * 1e9 / perSecond);
                for (long wait = due - System.nanoTime(); wait > 0; wait = due - System.nanoTime()) {
                    LockSupport.parkNanos(wait);
                }
                contender.transact(new Order(number));
                after.transaction(number);
            }
        });
        return count;
    }

    @FunctionalInterface
    private interface Task {
        void run() throws Exception;
    }

    private static void inThreads(Task task) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<Boolean>> running = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                running.add(threads.submit(() -> {
                    task.run();
                    return true;
                }));
            }
            for (Future<Boolean> each : running) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        } finally {
            threads.shutdownNow();
        }
    }
}
