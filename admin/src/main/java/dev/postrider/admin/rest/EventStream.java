package dev.postrider.admin.rest;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Server-sent events for one client. It keeps only the newest event of each kind until the client has read it, so a slow
 * client costs no memory. It ends after ten minutes: the client connects again, and is authenticated again. Thread-safe.
 */
public final class EventStream implements AutoCloseable {

    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final String NOTHING = ": nothing new\n\n";

    /** Kinds of events. There are few of them. */
    private final Map<String, String> pending = new LinkedHashMap<>();

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final long began = System.nanoTime();
    private final Consumer<EventStream> onClose;
    private boolean closed;

    EventStream(Consumer<EventStream> onClose) {
        this.onClose = onClose;
    }

    /** Adds an event. It replaces an event of this kind that was not read yet. */
    void send(String kind, String json) {
        lock.lock();
        try {
            pending.put(kind, json);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the next events.
     *
     * @return what to send to the client, in UTF-8; a comment if there was no event in time; null at the end
     */
    public @Nullable String next(Duration atMost) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long nanos = atMost.toNanos();
            while (pending.isEmpty() && !closed && nanos > 0) {
                nanos = changed.awaitNanos(nanos);
            }
            if (closed || System.nanoTime() - began > LONGEST.toNanos()) {
                return null;
            }
            if (pending.isEmpty()) {
                return NOTHING;
            }
            StringBuilder events = new StringBuilder();
            pending.forEach((kind, json) -> events.append("event: ")
                    .append(kind)
                    .append("\ndata: ")
                    .append(json)
                    .append("\n\n"));
            pending.clear();
            return events.toString();
        } finally {
            lock.unlock();
        }
    }

    /** Ends the stream and makes room for another one. */
    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            changed.signal();
        } finally {
            lock.unlock();
        }
        onClose.accept(this);
    }
}
