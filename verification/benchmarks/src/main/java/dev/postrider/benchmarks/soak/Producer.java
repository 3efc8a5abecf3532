package dev.postrider.benchmarks.soak;

import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Writes at a fixed rate, ten transactions per second, whatever the state of the queue. Makes up for delays. */
final class Producer implements AutoCloseable {

    private static final long EVERY_NANOS = 100_000_000;

    private final Subject subject;
    private final int perTransaction;
    private final AtomicLong written = new AtomicLong();
    private final Thread thread = new Thread(this::work, "producer");
    private volatile boolean stopping;

    Producer(Subject subject, int rate) {
        this.subject = subject;
        this.perTransaction = rate / 10;
    }

    void start() {
        thread.start();
    }

    long written() {
        return written.get();
    }

    private void work() {
        long next = System.nanoTime();
        while (!stopping) {
            try {
                subject.enqueue(perTransaction);
                written.addAndGet(perTransaction);
            } catch (SQLException e) {
                throw new IllegalStateException("Could not write to " + subject.name(), e);
            }
            next += EVERY_NANOS;
            LockSupport.parkNanos(next - System.nanoTime());
        }
    }

    @Override
    public void close() {
        stopping = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
