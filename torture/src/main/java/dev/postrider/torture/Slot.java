package dev.postrider.torture;

import dev.postrider.testkit.FaultyProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A place that one process after another takes, with a proxy of its own before the database. Only one fault at a time may have to do
 * with the process itself. Thread-safe.
 */
final class Slot {

    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final FaultyProxy proxy;
    private final Function<Child.@Nullable Start, Child> starter;
    private final Semaphore free = new Semaphore(1);
    private volatile @Nullable Child child;
    private volatile String rate = "rate 0";

    /** @param starter starts a process for this place; as usual if it is not told how */
    Slot(String name, FaultyProxy proxy, Function<Child.@Nullable Start, Child> starter) {
        this.name = name;
        this.proxy = proxy;
        this.starter = starter;
    }

    String name() {
        return name;
    }

    FaultyProxy proxy() {
        return proxy;
    }

    /** False if somebody else is doing something to its process. Whoever takes it gives it back. */
    boolean take() {
        return free.tryAcquire();
    }

    /**
     * Takes one whose process is at work, the one that was picked if possible, or else the next.
     *
     * @param early whether the one that was picked is also taken while its process is on its way to work
     * @return null if there is none
     */
    static @Nullable Slot takeOne(List<Slot> slots, int pick, boolean early) {
        Slot picked = slots.get(pick % slots.size());
        if (early && picked.take()) {
            return picked;
        }
        for (int i = 0; i < slots.size(); i++) {
            Slot next = slots.get((pick % slots.size() + i) % slots.size());
            if (next.takeAtWork()) {
                return next;
            }
        }
        return null;
    }

    /**
     * Like {@link #take}, and false as well if its process is still on its way to work: on a slow machine none would ever get there if it were
     * killed on the way time and again.
     */
    private boolean takeAtWork() {
        if (!take()) {
            return false;
        }
        if (current().isAtWork()) {
            return true;
        }
        giveBack();
        return false;
    }

    void giveBack() {
        free.release();
    }

    void start() {
        start(null);
    }

    /** @param how null for as usual */
    void start(Child.@Nullable Start how) {
        Child started = starter.apply(how);
        child = started;
        started.tell(rate);
    }

    /** Waits for the process to be at work, and starts another if it died on the way there, as a supervisor would. */
    void awaitReady() throws InterruptedException {
        while (!current().awaitReady(START_LIMIT)) {
            current().kill();
            start();
        }
    }

    Child current() {
        Child current = child;
        if (current == null) {
            throw new IllegalStateException(name + " was not started");
        }
        return current;
    }

    /** How many messages it writes in a second; whoever comes after it is told the same. */
    void rate(double messagesPerSecond) {
        rate = "rate " + messagesPerSecond;
        tell(rate);
    }

    void tell(String order) {
        Child current = child;
        if (current != null) {
            current.tell(order);
        }
    }

    /** Starts another process if this one has ended though nobody did anything to it. */
    boolean revive() {
        if (child == null || current().isAlive() || !take()) {
            return false;
        }
        try {
            if (current().isAlive()) {
                return false;
            }
            start();
            return true;
        } finally {
            giveBack();
        }
    }
}
