package dev.postrider.dispatch;

import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Stops asking a destination that is down. After so many failures in a row the topic rests on this node: nothing of it is read, and no
 * attempt used up. Then one message at a time finds out whether the destination is back; as long as it is not, the rests become
 * longer. Any answer but a failure, even a refusal, says that it is there. Thread-safe.
 */
final class Breaker {

    private static final Duration FIRST_REST = Duration.ofSeconds(1);

    private final Topic topic;
    private final Time time;
    private final EventListener events;
    private final BiConsumer<Topic, Duration> rests;
    private volatile boolean armed;
    private volatile int failures;

    /** How long the rest is, or was if it is over; null as long as the destination is trusted. */
    private volatile @Nullable Duration rest;

    private volatile long restsUntil;

    /** @param rests told of each rest, when it begins */
    Breaker(Topic topic, Time time, EventListener events, BiConsumer<Topic, Duration> rests) {
        this.topic = topic;
        this.time = time;
        this.events = events;
        this.rests = rests;
    }

    /** Until then it only counts: whoever delivers in his own thread wants everything tried. */
    void arm() {
        armed = topic.breakerFailures() > 0;
    }

    /** How many messages may be under way now as far as their destination goes. */
    int limit() {
        if (rest == null) {
            return Integer.MAX_VALUE;
        }
        return isResting() ? 0 : 1;
    }

    /** Whether nothing may be sent now. */
    boolean isAtRest() {
        return rest != null && isResting();
    }

    /** How long the destination rests from now on; zero if it does not. */
    Duration restLeft() {
        return isAtRest() ? Duration.ofNanos(Math.max(restsUntil - time.nanos(), 0)) : Duration.ZERO;
    }

    private boolean isResting() {
        return time.nanos() - restsUntil < 0;
    }

    /** The destination has answered. */
    void answered() {
        if (failures != 0 && trust()) {
            events.on(new Event.DestinationBack(topic.name()));
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
            events.on(new Event.DestinationRests(topic.name(), failures, begun, error));
            rests.accept(topic, begun);
        }
    }

    /** The rest that begins with this failure. One that was sent before the last rest began proves nothing new. */
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
