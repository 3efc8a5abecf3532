package dev.postrider.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The destination of a phase's messages. Records the time of each, and duplicates. Thread-safe. */
public final class Receiver {

    /** Rarely, because each poll is processor time that counts. */
    private static final long LOOK_EVERY_NANOS = 2_000_000;

    private final AtomicLongArray byNumber;
    private final AtomicLongArray byArrival;
    private final AtomicInteger received = new AtomicInteger();
    private final AtomicInteger again = new AtomicInteger();

    private final @Nullable StageTimes stages;

    /** @param capacity more than the highest order number */
    public Receiver(int capacity) {
        this(capacity, null);
    }

    private Receiver(int capacity, @Nullable StageTimes stages) {
        byNumber = new AtomicLongArray(capacity);
        byArrival = new AtomicLongArray(capacity);
        this.stages = stages;
    }

    /** Also records the times of the stages of Postrider. */
    public static Receiver withStages(int capacity) {
        return new Receiver(capacity, new StageTimes(capacity));
    }

    /** The times of the stages, if they are recorded. */
    public @Nullable StageTimes stages() {
        return stages;
    }

    void receive(int number) {
        long now = System.nanoTime();
        if (byNumber.compareAndSet(number, 0, now)) {
            byArrival.set(received.getAndIncrement(), now);
        } else {
            again.incrementAndGet();
        }
    }

    public int received() {
        return received.get();
    }

    /** The arrival time of this message, by {@link System#nanoTime}. */
    public long arrivalOf(int number) {
        return byNumber.get(number);
    }

    /** Messages per second from the end of the first tenth to the last message. So the startup of a system does not count. */
    public double rate(int messages) {
        return (messages - 1 - messages / 10) / seconds(messages);
    }

    /** The time in which {@link #rate} is measured. */
    public double seconds(int messages) {
        return (byArrival.get(messages - 1) - byArrival.get(messages / 10)) / 1e9;
    }

    /** @throws IllegalStateException if this many messages do not arrive in time */
    public void await(int messages, Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        while (received.get() < messages) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(
                        "delivered " + received.get() + " of " + messages + " messages within " + atMost);
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }

    /** @throws IllegalStateException unless each message arrived exactly once */
    public void verify(int messages) {
        if (received.get() != messages || again.get() != 0) {
            throw new IllegalStateException("delivered " + received.get() + " of " + messages + " messages, and "
                    + again.get() + " of them more than once");
        }
    }
}
