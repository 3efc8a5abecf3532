package dev.postrider.internal.event;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends each event to several listeners. An exception of one listener is logged, and affects neither the other
 * listeners nor the caller. Thread-safe.
 */
public final class EventListeners implements EventListener {

    private static final Logger log = LoggerFactory.getLogger(EventListeners.class);

    private final List<EventListener> listeners;

    public EventListeners(List<EventListener> listeners) {
        this.listeners = List.copyOf(listeners);
    }

    @Override
    public void on(Event event) {
        for (EventListener listener : listeners) {
            try {
                listener.on(event);
            } catch (Throwable e) {
                log.warn("An event listener failed on {}", event.getClass().getSimpleName(), e);
            }
        }
    }
}
