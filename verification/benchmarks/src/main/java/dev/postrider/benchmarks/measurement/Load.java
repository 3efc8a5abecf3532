package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Order;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** Business transactions in eight threads. */
final class Load {

    static final int THREADS = 8;

    private Load() {}

    /** The number of transactions, and their rate. */
    record Result(int transactions, double perSecond) {
        @Override
        public String toString() {
            return Math.round(perSecond) + " transactions/s";
        }
    }

    /** Called with the number of an order after its transaction, by the same thread. */
    @FunctionalInterface
    interface After {
        void transaction(int number);
    }

    /** At the maximum rate, for this time. */
    static Result full(Contender contender, Duration duration) throws Exception {
        AtomicInteger next = new AtomicInteger();
        long start = System.nanoTime();
        long end = start + duration.toNanos();
        inThreads(() -> {
            while (System.nanoTime() - end < 0) {
                contender.transact(new Order(next.getAndIncrement()));
            }
        });
        return new Result(next.get(), next.get() * 1e9 / (System.nanoTime() - start));
    }

    /** This many transactions, at the maximum rate. */
    static void count(Contender contender, int transactions) throws Exception {
        each(transactions, number -> contender.transact(new Order(number)));
    }

    /** A task for the number of an order. */
    @FunctionalInterface
    interface Numbered {
        void run(int number) throws Exception;
    }

    /** Runs the task once for each number below the count, at the maximum rate. */
    static Result each(int count, Numbered task) throws Exception {
        AtomicInteger next = new AtomicInteger();
        long start = System.nanoTime();
        inThreads(() -> {
            for (int number = next.getAndIncrement(); number < count; number = next.getAndIncrement()) {
                task.run(number);
            }
        });
        return new Result(count, count * 1e9 / (System.nanoTime() - start));
    }

    /** At a steady rate, independent of the duration of each transaction. */
    static Result steady(Contender contender, double perSecond, Duration duration, After after) throws Exception {
        AtomicInteger next = new AtomicInteger();
        int count = (int) (perSecond * duration.toNanos() / 1e9);
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
        return new Result(count, count * 1e9 / (System.nanoTime() - start));
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
