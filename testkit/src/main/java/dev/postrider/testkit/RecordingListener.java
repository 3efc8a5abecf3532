package dev.postrider.testkit;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import java.time.Duration;
import java.util.List;

/** A listener that records every event. Register it with {@code PostriderBuilder.listener}. Thread-safe. */
public final class RecordingListener implements EventListener {

    private final Recorded<Event> events = new Recorded<>();

    @Override
    public void on(Event event) {
        events.add(event);
    }

    /** All events, in the order of their arrival. */
    public List<Event> events() {
        return events.all();
    }

    /** All events of this kind, such as {@code Event.Delivered.class}, in the order of their arrival. */
    public <E extends Event> List<E> events(Class<E> kind) {
        return cast(events.all(), kind);
    }

    /**
     * Waits until there are at least {@code count} events of this kind.
     *
     * @return all events of this kind, in the order of their arrival
     * @throws AssertionError if there are fewer events after the time limit
     */
    public <E extends Event> List<E> await(Class<E> kind, int count, Duration limit) {
        return cast(events.await(count, limit, kind::isInstance), kind);
    }

    private static <E extends Event> List<E> cast(List<Event> events, Class<E> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** Removes all recorded events. */
    public void clear() {
        events.clear();
    }
}
