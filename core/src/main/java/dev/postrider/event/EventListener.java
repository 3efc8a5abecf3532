package dev.postrider.event;

/**
 * Receives events. The implementation must be fast and thread-safe. It is called on Postrider's threads, and also on
 * the threads of callers, for example with {@link Event.Duplicate}. An exception of a listener is logged and has no
 * other effect.
 */
@FunctionalInterface
public interface EventListener {

    /** Receives one event. */
    void on(Event event);
}
