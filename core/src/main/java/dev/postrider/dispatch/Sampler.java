package dev.postrider.dispatch;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.internal.Internal;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.SampleStore;
import java.time.Duration;

/**
 * Publishes a sample of the database in each interval. One node per interval takes it, the others read the stored one.
 * Thread-safe.
 */
@Internal
public final class Sampler implements AutoCloseable {

    private static final Duration SHORTEST = Duration.ofMillis(100);
    private static final Duration LONGEST = Duration.ofHours(1);

    /** The pause until the first sample of a database is there. */
    private static final Duration UNTIL_FIRST = Duration.ofMillis(500);

    private final SampleStore store;
    private final Dispatcher dispatcher;
    private final Duration interval;
    private final EventListener events;
    private final Platform platform;
    private final Heartbeat heartbeat;

    /**
     * @param events does not throw
     * @throws InvalidConfigurationException when the interval is out of range
     */
    public Sampler(SampleStore store, Dispatcher dispatcher, Duration interval, EventListener events) {
        this(store, dispatcher, interval, events, Platform.system());
    }

    Sampler(SampleStore store, Dispatcher dispatcher, Duration interval, EventListener events, Platform platform) {
        if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
            throw new InvalidConfigurationException("sample-interval", "must be 100 ms to 1 h, but is " + interval);
        }
        this.store = store;
        this.dispatcher = dispatcher;
        this.interval = interval;
        this.events = events;
        this.platform = platform;
        this.heartbeat = new Heartbeat("sample", events, platform);
    }

    /** Publishes the first sample at once, on another thread. */
    public void start() {
        heartbeat.every(this::runOnce).run();
    }

    /** Takes a sample if it is due, and publishes the stored one. Returns the pause before the next run. */
    Duration runOnce() {
        long before = platform.wallMillis();
        SampleStore.Stored stored = store.read();
        Duration skew =
                skew(before, platform.wallMillis(), stored.databaseTime().toEpochMilli());
        if (stored.due() && store.takeIfDue(interval, dispatcher.worker())) {
            stored = store.read();
        }
        NodeLoad load = dispatcher.load(skew, stored.schemaProblem());
        stored.sample().ifPresent(sample -> events.on(new Event.Sampled(sample, load, interval)));
        return stored.sample().isPresent() || interval.compareTo(UNTIL_FIRST) < 0 ? interval : UNTIL_FIRST;
    }

    /** The database read its clock between the two times of this node. */
    private static Duration skew(long before, long after, long database) {
        if (database < before) {
            return Duration.ofMillis(before - database);
        }
        return Duration.ofMillis(Math.min(after - database, 0));
    }

    @Override
    public void close() {
        heartbeat.close();
    }
}
