package dev.postrider.dispatch;

import dev.postrider.error.StoreException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that runs one duty repeatedly: as soon as it is woken, or after the pause that the duty returned. An error
 * does not end the loop: it is reported, and the duty runs again after a pause that grows up to a second.
 */
final class BackgroundLoop {

    private static final Logger log = LoggerFactory.getLogger(BackgroundLoop.class);

    /** Does the work that is due, and returns the pause before the next run. */
    @FunctionalInterface
    interface Duty {
        Duration runOnce();
    }

    private final Platform platform;
    private final Object owner;
    private final String name;
    private final EventListener events;
    private final Platform.Waiter waiter;
    private final Platform.Waiter ending;
    private final Platform.Waiter over;
    private final Backoff backoff = new Backoff();
    private volatile boolean stopping;
    private volatile boolean running;

    /** @param owner the object that the thread belongs to */
    BackgroundLoop(Platform platform, Object owner, String name, EventListener events) {
        this.platform = platform;
        this.owner = owner;
        this.name = name;
        this.events = events;
        this.waiter = platform.waiter();
        this.ending = platform.waiter();
        this.over = platform.waiter();
    }

    /** Starts the thread. Called once. */
    void start(Duty duty) {
        Thread thread = platform.thread(owner, () -> run(duty), name);
        running = true;
        thread.start();
    }

    /** Runs the duty now, or once more when its current run has ended. A wake-up before the start is kept. */
    void wake() {
        waiter.signal();
    }

    /** Lets the current run of the duty finish and starts no other. */
    void end() {
        stopping = true;
        waiter.signal();
        ending.signal();
    }

    /** @return whether the loop has ended */
    boolean awaitEnd(Duration atMost) throws InterruptedException {
        if (running) {
            over.await(atMost);
        }
        if (running) {
            log.warn("The {} loop did not end within {}", name, atMost);
        }
        return !running;
    }

    private void run(Duty duty) {
        try {
            loop(duty);
        } finally {
            running = false;
            over.signal();
        }
    }

    private void loop(Duty duty) {
        while (!stopping) {
            try {
                round(duty);
            } catch (InterruptedException e) {
                // The library never interrupts this thread: code that it called left the interrupt flag set, which must
                // not end the loop.
                log.warn("The {} loop was interrupted by code that it called; it continues", name);
            }
        }
    }

    private void round(Duty duty) throws InterruptedException {
        Duration pause;
        try {
            pause = duty.runOnce();
            backoff.reset();
        } catch (Throwable e) {
            Duration patience = backoff.next();
            report(e, patience);
            ending.await(patience); // not waiter: frequent wake-ups must not turn an error into a busy loop
            return;
        }
        waiter.await(pause);
    }

    private void report(Throwable e, Duration pause) {
        events.on(new Event.StoreFailed(name, ThrowableClassifier.text(e), pause));
        if (!(e instanceof StoreException)) {
            log.error("The {} loop failed; it continues in {}", name, pause, e);
        }
    }
}
