package dev.postrider.event;

/**
 * Hears what happens. Called on Postrider's own threads, and for {@link Event.Duplicate} on the caller's: must be quick and
 * thread-safe. What it throws is logged and goes no further.
 */
@FunctionalInterface
public interface EventListener {

    void on(Event event);
}
