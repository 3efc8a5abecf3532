package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import dev.postrider.internal.Internal;
import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A thread for one duty, started when it is first needed. Thread-safe. */
@Internal
public final class Heartbeat implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final String name;
    private final EventListener events;
    private final Platform platform;
    private @Nullable BackgroundLoop loop;
    private boolean closed;

    public Heartbeat(String name, EventListener events) {
        this(name, events, Platform.system());
    }

    Heartbeat(String name, EventListener events, Platform platform) {
        this.name = name;
        this.events = events;
        this.platform = platform;
    }

    /**
     * Creates a trigger for a repeated duty.
     *
     * @param duty returns the pause before the next run; its exceptions are reported and do not end the thread
     * @return runs the duty now, or as soon as its current run has finished
     */
    public Runnable every(Supplier<Duration> duty) {
        return () -> beat(duty);
    }

    /** Runs the task once, on its own daemon thread, which does not keep the process alive. */
    public void start(Runnable task) {
        platform.thread(this, task, name + "-task").start();
    }

    private synchronized void beat(Supplier<Duration> duty) {
        if (closed) {
            return;
        }
        if (loop == null) {
            loop = new BackgroundLoop(platform, this, name, events);
            loop.start(duty::get);
        } else {
            loop.wake();
        }
    }

    /** Lets the current run of the duty finish and ends the thread. Waits up to 5 seconds. */
    @Override
    public void close() {
        BackgroundLoop ending;
        synchronized (this) {
            closed = true;
            ending = loop;
        }
        if (ending != null) {
            ending.end();
            if (Platform.isThreadOf(this)) {
                return; // it would wait for itself
            }
            try {
                ending.awaitEnd(PATIENCE);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
