package dev.postrider.admin.rest;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.health.Health;
import dev.postrider.health.HealthCheck;
import dev.postrider.internal.Json;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The last sample and the health of this process, for the API: an event listener. Add it to the Postrider after its health
 * check, and let the Postrider publish samples:
 *
 * <pre>{@code
 * HealthCheck health = HealthCheck.with(HealthThresholds.defaults());
 * AdminEvents events = AdminEvents.of(health);
 * Postrider postrider = Postrider.on(dataSource).listener(health).listener(events).sampleEvery(interval).build();
 * AdminApi api = AdminApi.on(postrider.admin()).events(events).build();
 * }</pre>
 *
 * Close it to end its event streams. Thread-safe.
 */
public final class AdminEvents implements EventListener, AutoCloseable {

    /** The largest number of event streams. Each occupies a thread of the server. */
    public static final int MOST_STREAMS = 16;

    private static final View NOTHING_OF_MESSAGES = new View(false, (topic, part, text) -> text);

    private final HealthCheck health;
    private final Set<EventStream> streams = new LinkedHashSet<>();
    private volatile Event.@Nullable Sampled last;

    private AdminEvents(HealthCheck health) {
        this.health = health;
    }

    /** @param health a listener of the same Postrider */
    public static AdminEvents of(HealthCheck health) {
        return new AdminEvents(health);
    }

    @Override
    public void on(Event event) {
        if (event instanceof Event.Sampled sampled) {
            last = sampled;
            send("sample", () -> json(sampled));
            send("health", () -> json(health.now()));
        } else if (event instanceof Event.StoreFailed) {
            send("health", () -> json(health.now()));
        }
    }

    private void send(String kind, Supplier<String> json) {
        List<EventStream> clients = open();
        if (!clients.isEmpty()) {
            String text = json.get();
            clients.forEach(stream -> stream.send(kind, text));
        }
    }

    private synchronized List<EventStream> open() {
        return List.copyOf(streams);
    }

    private static String json(Event.Sampled sampled) {
        return Json.writeTree(Shapes.SAMPLED.write(sampled, NOTHING_OF_MESSAGES));
    }

    private static String json(Health health) {
        return Json.writeTree(Shapes.HEALTH.write(health, NOTHING_OF_MESSAGES));
    }

    /** Returns the last sample; null before the first one. */
    Event.@Nullable Sampled last() {
        return last;
    }

    Health health() {
        return health.now();
    }

    /** Returns a stream that begins with what is known now; null if there are as many as there may be. */
    @Nullable
    EventStream stream() {
        EventStream stream = new EventStream(this::remove);
        synchronized (this) {
            if (streams.size() >= MOST_STREAMS) {
                return null;
            }
            streams.add(stream);
        }
        try {
            Event.Sampled sampled = last;
            if (sampled != null) {
                stream.send("sample", json(sampled));
            }
            stream.send("health", json(health.now()));
            return stream;
        } catch (RuntimeException e) {
            stream.close();
            throw e;
        }
    }

    private synchronized void remove(EventStream stream) {
        streams.remove(stream);
    }

    /** Ends all streams. */
    @Override
    public void close() {
        open().forEach(EventStream::close);
    }
}
