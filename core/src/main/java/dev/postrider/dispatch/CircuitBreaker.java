package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.event.NodeLoad;
import dev.postrider.internal.Platform;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Stops deliveries to a failing destination. After {@link Topic#breakerFailures} failures in a row the breaker opens on
 * this node: no message of the topic is read or sent, and no attempt is used up. When its pause is over, the breaker is
 * half-open: one message at a time tests the destination. If that fails, the breaker opens again for a longer pause.
 * Any result except a failure, even a rejection, closes the breaker. Thread-safe.
 */
final class CircuitBreaker {

    /** Called each time a breaker opens. */
    @FunctionalInterface
    interface BreakerListener {
        void breakerOpened(Topic topic, Duration pause);
    }

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    private final Topic topic;
    private final Platform time;
    private final EventListener events;
    private final BreakerListener listener;
    private volatile boolean armed;
    private volatile int failures;

    /** The current pause, or the last one if it is over; null while the breaker is closed. */
    private volatile @Nullable Duration pause;

    private volatile long pauseEnd;

    CircuitBreaker(Topic topic, Platform time, EventListener events, BreakerListener listener) {
        this.topic = topic;
        this.time = time;
        this.events = events;
        this.listener = listener;
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
        if (pause == null) {
            return Integer.MAX_VALUE;
        }
        return isInPause() ? 0 : 1;
    }

    /** Whether the breaker is open. */
    boolean isOpen() {
        return pause != null && isInPause();
    }

    NodeLoad.Circuit state() {
        if (pause == null) {
            return NodeLoad.Circuit.CLOSED;
        }
        return isInPause() ? NodeLoad.Circuit.OPEN : NodeLoad.Circuit.HALF_OPEN;
    }

    /** The time until the breaker is half-open; zero if it is not open. */
    Duration pauseLeft() {
        return isOpen() ? Duration.ofNanos(Math.max(pauseEnd - time.nanos(), 0)) : Duration.ZERO;
    }

    private boolean isInPause() {
        return time.nanos() - pauseEnd < 0;
    }

    /** Records a result that is not a failure. */
    void answered() {
        if (failures != 0 && close()) {
            events.on(new Event.CircuitClosed(topic.name()));
        }
    }

    private synchronized boolean close() {
        boolean wasOpen = pause != null;
        failures = 0;
        pause = null;
        return wasOpen;
    }

    void failed(String error) {
        Duration begun = countFailure();
        if (begun != null) {
            events.on(new Event.CircuitOpened(topic.name(), failures, begun, error));
            listener.breakerOpened(topic, begun);
        }
    }

    /**
     * Counts a failure and returns the pause that begins with it, or null. The failure of a message that was sent
     * before the breaker opened does not prolong the pause.
     */
    private synchronized @Nullable Duration countFailure() {
        failures++;
        Duration last = pause;
        boolean enough = last == null ? failures >= topic.breakerFailures() : !isInPause();
        if (!armed || !enough) {
            return null;
        }
        Duration next = shorter(last == null ? FIRST_PAUSE : last.multipliedBy(2), topic.breakerPause());
        pauseEnd = time.nanos() + next.toNanos();
        pause = next;
        return next;
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) <= 0 ? one : other;
    }
}
