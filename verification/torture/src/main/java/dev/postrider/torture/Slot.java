package dev.postrider.torture;

import dev.postrider.testkit.FaultyProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A place for one process at a time, with its own proxy before the database. Only one fault at a time may act on the process itself.
 * Thread-safe.
 */
final class Slot {

    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final FaultyProxy proxy;
    private final Function<Child.@Nullable Start, Child> starter;
    private final Semaphore free = new Semaphore(1);
    private volatile @Nullable Child child;
    private volatile String rate = "rate 0";

    /** @param starter starts a process for this slot; with null in the usual way */
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

    /** Reserves the process for one caller. Returns false if it is reserved already. The caller must call {@link #giveBack}. */
    boolean take() {
        return free.tryAcquire();
    }

    /**
     * Reserves a slot whose process is ready: the picked one if possible, otherwise the next.
     *
     * @param early whether the picked slot is also reserved while its process is starting
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
     * Like {@link #take}, but also returns false if the process is still starting: on a slow computer no process would become ready
     * if it were killed during every start.
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

    /** @param how null for the usual way */
    void start(Child.@Nullable Start how) {
        Child started = starter.apply(how);
        child = started;
        started.tell(rate);
    }

    /** Waits until the process is ready. Starts another if it died before, as a supervisor would. */
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

    /** Sets how many messages the process writes per second. Its successors get the same rate. */
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

    /** Starts another process if this one has ended although no fault acted on it. */
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
