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

    private static final Duration SHORTEST_BACKOFF = Duration.ofMillis(50);
    private static final Duration LONGEST_BACKOFF = Duration.ofSeconds(1);

    /** Does what there is to do now; answers how long to wait before the next time. */
    @FunctionalInterface
    interface Duty {
        Duration runOnce();
    }

    private final String name;
    private final Duty duty;
    private final EventListener events;
    private final Waiter waiter = new Waiter();
    private final Waiter backoff = new Waiter();
    private final Thread thread;
    private volatile boolean stopping;

    BackgroundLoop(String name, Duty duty, EventListener events) {
        this.name = name;
        this.duty = duty;
        this.events = events;
        this.thread = new Thread(this::loop, "postrider-" + name);
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    void wake() {
        waiter.signal();
    }

    /** Lets the duty finish what it is at, and waits for that. */
    void stop(Duration atMost) throws InterruptedException {
        stopping = true;
        waiter.signal();
        backoff.signal();
        thread.join(Math.max(atMost.toMillis(), 1));
        if (thread.isAlive()) {
            log.warn("The {} loop did not end within {}", name, atMost);
        }
    }

    private void loop() {
        Duration pause = Duration.ZERO;
        try {
            while (!stopping) {
                try {
                    waiter.await(duty.runOnce());
                    pause = Duration.ZERO;
                } catch (InterruptedException e) {
                    throw e;
                } catch (Throwable e) {
                    pause = longer(pause);
                    report(e, pause);
                    backoff.await(pause);
                }
            }
        } catch (InterruptedException e) {
            log.debug("The {} loop was interrupted", name);
        }
    }

    private static Duration longer(Duration pause) {
        Duration doubled = pause.isZero() ? SHORTEST_BACKOFF : pause.multipliedBy(2);
        return doubled.compareTo(LONGEST_BACKOFF) > 0 ? LONGEST_BACKOFF : doubled;
    }

    private void report(Throwable e, Duration pause) {
        events.on(new Event.StoreFailed(name, String.valueOf(e.getMessage()), pause));
        if (!(e instanceof StoreException)) {
            log.error("The {} loop failed; it goes on in {}", name, pause, e);
        }
    }
}
