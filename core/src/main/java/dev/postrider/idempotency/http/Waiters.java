package dev.postrider.idempotency.http;

import dev.postrider.idempotency.Command;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;

/** Bounds how many requests wait for others at an endpoint of this process, in all and for one key. Thread-safe. */
final class Waiters {

    private static final int IN_ALL = 64;
    private static final int PER_KEY = 8;

    private final Semaphore room = new Semaphore(IN_ALL);
    private final ConcurrentMap<Command.Identity, Integer> waiting = new ConcurrentHashMap<>();

    /** @return whether there is room; if so, {@link #leave} must follow */
    boolean enter(Command.Identity identity) {
        if (!room.tryAcquire()) {
            return false;
        }
        if (waiting.merge(identity, 1, Integer::sum) > PER_KEY) {
            leave(identity);
            return false;
        }
        return true;
    }

    void leave(Command.Identity identity) {
        waiting.computeIfPresent(identity, (same, count) -> count == 1 ? null : count - 1);
        room.release();
    }
}
