package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Drains a backlog, and verifies that every message was delivered once and is finished. */
final class Drain {

    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final long LOOK_EVERY_NANOS = 5_000_000;

    private Drain() {}

    /** Messages per second over the whole backlog, from empty tables. */
    static double rate(Arena arena, Contender contender, int backlog) throws Exception {
        contender.clear();
        return again(arena, contender, backlog);
    }

    /** As {@link #rate}, without emptying the tables. */
    static double again(Arena arena, Contender contender, int backlog) throws Exception {
        contender.fill(backlog);
        arena.settle();
        Receiver receiver = new Receiver(backlog);
        contender.start(receiver);
        try {
            receiver.await(backlog, PATIENCE);
            awaitDone(contender);
        } finally {
            contender.stop();
        }
        receiver.verify(backlog);
        return receiver.rate(backlog);
    }

    /** Messages per second over the first messages of a larger backlog. */
    static double rateOfFirst(Arena arena, Contender contender, int first, int backlog) throws Exception {
        contender.clear();
        contender.fill(backlog);
        arena.settle();
        Receiver receiver = new Receiver(backlog);
        contender.start(receiver);
        try {
            receiver.await(first, PATIENCE);
        } finally {
            contender.stop();
        }
        return receiver.rate(first);
    }

    /** Waits until all messages are finished: the row of a delivered message must be deleted or marked. */
    static void awaitDone(Contender contender) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (contender.unfinished() > 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(contender.unfinished() + " messages were delivered and not finished");
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        }
    }
}
