package dev.postrider.dispatch;

import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/**
 * The threads of a running dispatcher: a loop for each duty, and the pools that send messages and run handlers. A loop
 * exists before it is started with its duty, so that each component can wake the loop that has its work. Thread-safe.
 */
final class NodeThreads {

    final BackgroundLoop claim;
    final BackgroundLoop handOver;
    final BackgroundLoop settleRows;
    final List<BackgroundLoop> settleLanes;
    final BackgroundLoop lease;
    final BackgroundLoop lanes;
    final BackgroundLoop isolated;
    final BackgroundLoop housekeeping;
    private final Platform platform;
    private final EventListener events;
    private final List<ExecutorService> pools = new CopyOnWriteArrayList<>();

    NodeThreads(Platform platform, EventListener events) {
        this.platform = platform;
        this.events = events;
        claim = loop("claim");
        handOver = loop("hand-over");
        settleRows = loop("settle");
        settleLanes = List.of(loop("settle-lanes-1"), loop("settle-lanes-2"));
        lease = loop("lease");
        lanes = loop("lanes");
        isolated = loop("isolated");
        housekeeping = loop("housekeeping");
    }

    private BackgroundLoop loop(String name) {
        return new BackgroundLoop(platform, this, name, events);
    }

    /** Creates the pool that calls transports. The delivery of each topic uses only a few of its threads. */
    Executor senders() {
        return pool("send", Integer.MAX_VALUE);
    }

    /**
     * Creates the pool of the handlers of a topic: one thread for each running delivery; idle threads end after a while.
     * The pool allows as many again for handlers that were given up and ignore their interrupt. When these are used up,
     * further attempts of this topic fail. Otherwise lost threads would fill the process.
     */
    Executor handlers(int deliveries) {
        return pool("handler", 2 * deliveries);
    }

    private Executor pool(String name, int most) {
        ExecutorService pool = platform.threads(this, name, most);
        pools.add(pool);
        return pool;
    }

    /** Interrupts the threads of the pools. They take no further tasks. */
    void endPools() {
        pools.forEach(ExecutorService::shutdownNow);
    }

    /** Whether the calling thread is one of these threads. */
    boolean isCaller() {
        return Platform.isThreadOf(this);
    }
}
