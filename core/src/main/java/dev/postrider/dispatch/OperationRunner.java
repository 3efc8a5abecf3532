package dev.postrider.dispatch;

import dev.postrider.admin.Operation;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Internal;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.OperationStore;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Works off background operations, one step after another. Every started node does so; the database elects one for each step. Thread-safe.
 */
@Internal
public final class OperationRunner implements AutoCloseable {

    /** How late a node notices an operation that another process has started. */
    private static final Duration POLL = Duration.ofSeconds(10);

    private static final long REPORT_EVERY_NANOS = Duration.ofSeconds(1).toNanos();

    /** No more operations are open at a time. */
    private static final int MOST_REPORTED = 100;

    private final OperationStore store;
    private final String node;
    private final Duration lease;
    private final EventListener events;
    private final Platform platform;
    private final Heartbeat heartbeat;
    private volatile boolean started;

    /** By operation, when its last progress was published. Used by the thread of the heartbeat. */
    private final Map<Long, Long> reported = new LinkedHashMap<>();

    /** @param events does not throw */
    public OperationRunner(OperationStore store, DispatchOptions options, EventListener events) {
        this(store, options, events, Platform.system());
    }

    OperationRunner(OperationStore store, DispatchOptions options, EventListener events, Platform platform) {
        this.store = store;
        this.node = options.worker();
        this.lease = options.lease();
        this.events = events;
        this.platform = platform;
        this.heartbeat = new Heartbeat("operations", events, platform);
    }

    /** Looks for operations at once, on another thread. */
    public void start() {
        started = true;
        wake();
    }

    /** Looks for operations now, if this node was started. */
    public void wake() {
        if (started) {
            heartbeat.every(this::runOnce).run();
        }
    }

    /** Makes a step of an operation, if one is due. Returns the pause before the next run. */
    Duration runOnce() {
        OperationStore.OperationStep step = store.step(node, lease);
        Operation operation = step.operation();
        if (operation != null) {
            report(operation, step.first());
        }
        return step.next().compareTo(POLL) < 0 ? step.next() : POLL;
    }

    private void report(Operation operation, boolean first) {
        if (first) {
            events.on(new Event.OperationStarted(operation));
        }
        long now = platform.nanos();
        if (operation.state().isEnded()) {
            reported.remove(operation.id());
            events.on(new Event.OperationEnded(operation));
            return;
        }
        Long last = reported.get(operation.id());
        if (last == null || now - last >= REPORT_EVERY_NANOS || operation.error() != null) {
            reported.put(operation.id(), now);
            reported.keySet().removeIf(id -> reported.size() > MOST_REPORTED && id != operation.id());
            events.on(new Event.OperationAdvanced(operation));
        }
    }

    @Override
    public void close() {
        started = false;
        heartbeat.close();
    }
}
