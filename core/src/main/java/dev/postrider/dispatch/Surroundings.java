package dev.postrider.dispatch;

import java.util.UUID;
import java.util.concurrent.ExecutorService;

/**
 * All that a node takes from the machine it runs on: clocks, ways to wait, threads, chance. It comes in through constructors, so that
 * a node can be run where time passes as somebody says and everything happens in an order that can be repeated. Thread-safe.
 */
interface Surroundings extends Time {

    Waiter waiter();

    /** A thread of the owner's, not yet started, by which the owner can tell that it is called from within itself. */
    Thread thread(Object owner, Runnable task, String name);

    /** Threads of the owner's, begun as they are needed; a task beyond so many is rejected. */
    ExecutorService threads(Object owner, String name, int most);

    /** Uniform in [0, 1). */
    double chance();

    /** One that nobody else has. */
    UUID id();

    /** The machine as it is. */
    static Surroundings system() {
        return new Machine();
    }
}
