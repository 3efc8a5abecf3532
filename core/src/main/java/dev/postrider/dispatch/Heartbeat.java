package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A thread for one duty, begun when it is first needed. Thread-safe. */
public final class Heartbeat implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final String name;
    private final EventListener events;
    private final Surroundings surroundings;
    private @Nullable BackgroundLoop loop;
    private boolean closed;

    public Heartbeat(String name, EventListener events) {
        this(name, events, Surroundings.system());
    }

    Heartbeat(String name, EventListener events, Surroundings surroundings) {
        this.name = name;
        this.events = events;
        this.surroundings = surroundings;
    }

    /**
     * @param duty answers how long to wait before the next time; what it throws is reported, and ends nothing
     * @return does the duty now, or as soon as it has done with the last time
     */
    public Runnable every(Supplier<Duration> duty) {
        return () -> beat(duty);
    }

    /** Runs the task once, on a thread of its own that does not keep the process alive. */
    public void start(Runnable task) {
        surroundings.thread(this, task, name + "-task").start();
    }

    private synchronized void beat(Supplier<Duration> duty) {
        if (closed) {
            return;
        }
        if (loop == null) {
            loop = new BackgroundLoop(surroundings, this, name, duty::get, events);
            loop.start();
        } else {
            loop.wake();
        }
    }

    /** Lets the duty finish what it is at, and ends the thread. */
    @Override
    public void close() {
        BackgroundLoop ending;
        synchronized (this) {
            closed = true;
            ending = loop;
        }
        if (ending != null) {
            ending.end();
            try {
                ending.awaitEnd(PATIENCE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
