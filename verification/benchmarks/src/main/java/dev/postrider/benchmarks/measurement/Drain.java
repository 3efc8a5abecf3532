package dev.postrider.benchmarks.measurement;

import dev.postrider.benchmarks.contender.Contender;
import dev.postrider.benchmarks.contender.Receiver;
import dev.postrider.benchmarks.database.Arena;
import dev.postrider.benchmarks.database.ProcessorTime;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Drains a backlog, and verifies that every message was delivered once and is finished. */
final class Drain {

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    /** Long, because the question costs the server time that counts: it reads over the dead rows of the whole backlog. */
    private static final long LOOK_EVERY_NANOS = 50_000_000;

    private Drain() {}

    /** Drains the whole backlog, from empty tables. */
    static Performance of(Arena arena, Contender contender, int backlog) throws Exception {
        contender.clear();
        return again(arena, contender, backlog);
    }

    /** As {@link #of}, without emptying the tables. */
    static Performance again(Arena arena, Contender contender, int backlog) throws Exception {
        return drain(arena, contender, backlog, backlog);
    }

    /** Drains the first messages of a larger backlog, from empty tables. */
    static Performance first(Arena arena, Contender contender, int first, int backlog) throws Exception {
        contender.clear();
        return drain(arena, contender, first, backlog);
    }

    private static Performance drain(Arena arena, Contender contender, int timed, int backlog) throws Exception {
        contender.fill(backlog);
        arena.settle();
        Receiver receiver = new Receiver(backlog);
        contender.start(receiver);
        ProcessorTime used;
        try {
            // The first tenth does not count, so that the start of a system does not.
            receiver.await(timed / 10, PATIENCE);
            ProcessorTime before = arena.processorTime();
            int from = receiver.received();
            receiver.await(timed, PATIENCE);
            if (timed == backlog) {
                awaitDone(contender);
            }
            used = arena.usedSince(before, receiver.received() - from);
        } finally {
            contender.stop();
        }
        if (timed == backlog) {
            receiver.verify(backlog);
        }
        return new Performance(receiver.rate(timed), receiver.seconds(timed), used);
    }

    /** Waits until all messages are finished: the row of a delivered message must be deleted or marked. */
    static void awaitDone(Contender contender) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        do {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(contender.unfinished() + " messages were delivered and not finished");
            }
            LockSupport.parkNanos(LOOK_EVERY_NANOS);
        } while (contender.unfinished() > 0);
    }
}
