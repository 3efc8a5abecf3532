package dev.postrider.testkit;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import java.time.Duration;
import java.util.List;

/** A listener that records every event. Give it to {@code PostriderBuilder.listener}. Thread-safe. */
public final class RecordingListener implements EventListener {

    private final Recorded<Event> events = new Recorded<>();

    @Override
    public void on(Event event) {
        events.add(event);
    }

    /** Every event, in the order in which they came. */
    public List<Event> events() {
        return events.all();
    }

    /** Every event of this kind, such as {@code Event.Delivered.class}, in the order in which they came. */
    public <E extends Event> List<E> events(Class<E> kind) {
        return cast(events.all(), kind);
    }

    /**
     * Waits for so many events of this kind.
     *
     * @return all events of this kind, in the order in which they came
     * @throws AssertionError if there are fewer when the time is over
     */
    public <E extends Event> List<E> await(Class<E> kind, int count, Duration limit) {
        return cast(events.await(count, limit, kind::isInstance), kind);
    }

    private static <E extends Event> List<E> cast(List<Event> events, Class<E> kind) {
        return events.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    /** Forgets all events. */
    public void clear() {
        events.clear();
    }
}
