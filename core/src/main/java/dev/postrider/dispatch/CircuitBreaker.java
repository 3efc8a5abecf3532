package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Stops deliveries to a failing destination. After {@link Topic#breakerFailures} failures in a row the breaker opens on
 * this node: no message of the topic is read or sent, and no attempt is used up. When its pause is over, the breaker is
 * half-open: one message at a time tests the destination. If that fails, the breaker opens again for a longer pause.
 * Any result except a failure, even a rejection, closes the breaker. Thread-safe.
 */
final class CircuitBreaker {

    private static final Duration FIRST_REST = Duration.ofSeconds(1);

    private final Topic topic;
    private final Platform time;
    private final EventListener events;
    private final BiConsumer<Topic, Duration> rests;
    private volatile boolean armed;
    private volatile int failures;

    /** The current pause, or the last one if it is over; null while the breaker is closed. */
    private volatile @Nullable Duration rest;

    private volatile long restsUntil;

    /** @param rests called with the pause each time the breaker opens */
    CircuitBreaker(Topic topic, Platform time, EventListener events, BiConsumer<Topic, Duration> rests) {
        this.topic = topic;
        this.time = time;
        this.events = events;
        this.rests = rests;
    }

    /**
     * Allows the breaker to open. Before this call it only counts failures, because {@link Engine#deliverDue} attempts
     * every message.
     */
    void arm() {
        armed = topic.breakerFailures() > 0;
    }

    /** The number of messages that may have a slot now: no limit when closed, 0 when open, 1 when half-open. */
    int limit() {
        if (rest == null) {
            return Integer.MAX_VALUE;
        }
        return isResting() ? 0 : 1;
    }

    /** Whether the breaker is open. */
    boolean isOpen() {
        return rest != null && isResting();
    }

    /** The time until the breaker is half-open; zero if it is not open. */
    Duration pauseLeft() {
        return isOpen() ? Duration.ofNanos(Math.max(restsUntil - time.nanos(), 0)) : Duration.ZERO;
    }

    private boolean isResting() {
        return time.nanos() - restsUntil < 0;
    }

    /** Records a result that is not a failure. */
    void answered() {
        if (failures != 0 && trust()) {
            events.on(new Event.CircuitClosed(topic.name()));
        }
    }

    private synchronized boolean trust() {
        boolean mistrusted = rest != null;
        failures = 0;
        rest = null;
        return mistrusted;
    }

    void failed(String error) {
        Duration begun = count();
        if (begun != null) {
            events.on(new Event.CircuitOpened(topic.name(), failures, begun, error));
            rests.accept(topic, begun);
        }
    }

    /**
     * Counts a failure and returns the pause that begins with it, or null. The failure of a message that was sent
     * before the breaker opened does not prolong the pause.
     */
    private synchronized @Nullable Duration count() {
        failures++;
        Duration last = rest;
        boolean enough = last == null ? failures >= topic.breakerFailures() : !isResting();
        if (!armed || !enough) {
            return null;
        }
        Duration next = shorter(last == null ? FIRST_REST : last.multipliedBy(2), topic.breakerPause());
        restsUntil = time.nanos() + next.toNanos();
        rest = next;
        return next;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
