package dev.postrider.dispatch;

import dev.postrider.error.StoreException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that does one duty again and again: as soon as it is woken, or after the pause the duty asked for. An error ends
 * nothing: it is reported, and the duty is tried again after a pause that grows up to a second.
 */
final class BackgroundLoop {

    private static final Logger log = LoggerFactory.getLogger(BackgroundLoop.class);

    /** Does what there is to do now; answers how long to wait before the next time. */
    @FunctionalInterface
    interface Duty {
        Duration runOnce();
    }

    private final String name;
    private final Duty duty;
    private final EventListener events;
    private final Waiter waiter;
    private final Waiter ending;
    private final Waiter over;
    private final Backoff backoff = new Backoff();
    private final Thread thread;
    private volatile boolean stopping;
    private volatile boolean running;

    /** @param owner whose thread this is */
    BackgroundLoop(Surroundings surroundings, Object owner, String name, Duty duty, EventListener events) {
        this.name = name;
        this.duty = duty;
        this.events = events;
        this.waiter = surroundings.waiter();
        this.ending = surroundings.waiter();
        this.over = surroundings.waiter();
        this.thread = surroundings.thread(owner, this::run, name);
    }

    void start() {
        running = true;
        thread.start();
    }

    void wake() {
        waiter.signal();
    }

    /** Lets the duty finish what it is at, and does not begin it again. */
    void end() {
        stopping = true;
        waiter.signal();
        ending.signal();
    }

    /** @return whether it has ended */
    boolean awaitEnd(Duration atMost) throws InterruptedException {
        if (running) {
            over.await(atMost);
        }
        if (running) {
            log.warn("The {} loop did not end within {}", name, atMost);
        }
        return !running;
    }

    private void run() {
        try {
            loop();
        } finally {
            running = false;
            over.signal();
        }
    }

    private void loop() {
        while (!stopping) {
            try {
                round();
            } catch (InterruptedException e) {
                // The thread is ours and we never interrupt it: somebody's code left its mark, and must not end the
                // duty.
                log.warn("The {} loop was interrupted by code that it called; it goes on", name);
            }
        }
    }

    private void round() throws InterruptedException {
        Duration pause;
        try {
            pause = duty.runOnce();
            backoff.reset();
        } catch (Throwable e) {
            Duration patience = backoff.next();
            report(e, patience);
            ending.await(patience); // not the other one: being woken often must not turn an error into a hot loop
            return;
        }
        waiter.await(pause);
    }

    private void report(Throwable e, Duration pause) {
        events.on(new Event.StoreFailed(name, Failures.text(e), pause));
        if (!(e instanceof StoreException)) {
            log.error("The {} loop failed; it goes on in {}", name, pause, e);
        }
    }
}
