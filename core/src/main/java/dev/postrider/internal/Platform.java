package dev.postrider.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.ExecutorService;

/**
 * Time, waiting, threads and randomness as the code sees them. It comes in through constructors, so that tests can move the clocks and a
 * simulation can run whole nodes on virtual time, in an order that a seed repeats. Implementations are thread-safe.
 */
public interface Platform {

    /** The monotonic clock. Only differences have a meaning. */
    long nanos();

    /** The wall clock, in milliseconds since 1970. It may jump. */
    long wallMillis();

    /** The wall clock. */
    default Instant now() {
        return Instant.ofEpochMilli(wallMillis());
    }

    /** A new waiter without a signal. */
    Waiter waiter();

    /** A new, closed latch. */
    Latch latch();

    /** A daemon thread, not yet started. {@link #isThreadOf} tells the owner that it is called on it. */
    Thread thread(Object owner, Runnable task, String name);

    /** A pool that starts daemon threads of the owner on demand, and rejects a task when {@code most} of them are busy. */
    ExecutorService threads(Object owner, String name, int most);

    /** Uniform in [0, 1). */
    double chance();

    /** A random UUID. */
    UUID id();

    /** The clocks and threads of the JVM. */
    static Platform system() {
        return new SystemPlatform();
    }

    /** Whether the current thread was made by {@link #thread} or {@link #threads}, for any owner. */
    static boolean isOwnThread() {
        return Thread.currentThread() instanceof OwnedThread;
    }

    /** Whether the current thread was made for this owner. */
    static boolean isThreadOf(Object owner) {
        return Thread.currentThread() instanceof OwnedThread own && own.owner.equals(owner);
    }

    /** Waits for a time or for a signal. A signal without a waiting thread is kept for the next one. Thread-safe. */
    interface Waiter {

        void await(Duration atMost) throws InterruptedException;

        /** Returns at once. */
        void signal();
    }

    /** Threads wait until it is opened. An open latch stays open. Thread-safe. */
    interface Latch {

        /** Returns at once. */
        void open();

        /** @return whether it is open; false when the time is over */
        boolean await(long nanos) throws InterruptedException;
    }
}
