package dev.postrider.dispatch;

import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.event.EventListener;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * This node's end of the doorbell. Whoever commits only leaves a note; a loop rings for all notes together, the first at once and the
 * next not sooner than {@link #REST} later. Another loop listens, once this node delivers. Thread-safe.
 */
final class Bell {

    /** However much is committed here, nobody is told more often than this. */
    private static final Duration REST = Duration.ofMillis(50);

    private static final Duration LISTEN = Duration.ofMillis(250);
    private static final Duration IDLE = Duration.ofMinutes(1);

    /** How long stopping waits for the last ring: whoever writes and ends at once should still be heard. */
    private static final Duration LAST_RING = Duration.ofSeconds(1);

    /** How long stopping waits for both loops before it closes the line, which cuts off what hangs. */
    private static final Duration END_TIMEOUT = Duration.ofSeconds(2);

    private final Doorbell.Line line;
    private final Surroundings surroundings;
    private final EventListener events;
    private final BackgroundLoop ringing;
    private final Waiter rung;

    // Under the lock of this object
    private final Set<TopicName> topics = new HashSet<>();
    private boolean anywhere;
    private boolean atWork;
    private boolean ringingStarted;
    private boolean stopped;
    private @Nullable BackgroundLoop listening;

    private long lastRing;

    Bell(Doorbell.Line line, Surroundings surroundings, EventListener events) {
        this.line = line;
        this.surroundings = surroundings;
        this.rung = surroundings.waiter();
        this.events = events;
        this.lastRing = surroundings.nanos() - REST.toNanos();
        this.ringing = new BackgroundLoop(surroundings, this, "ring", this::ringOnce, events);
    }

    /** Something was committed in these topics. Returns at once. */
    synchronized void ring(Collection<TopicName> committed) {
        topics.addAll(committed);
        wakeRinger();
    }

    /** Something was committed somewhere. */
    synchronized void ringAnywhere() {
        anywhere = true;
        wakeRinger();
    }

    private void wakeRinger() {
        if (!ringingStarted && !stopped) {
            ringingStarted = true;
            ringing.start();
        }
        ringing.wake();
    }

    /** From now on the others are heard. */
    synchronized void listen(Consumer<Ring> heard) {
        if (!stopped && listening == null) {
            listening = new BackgroundLoop(surroundings, this, "doorbell", () -> listenOnce(heard), events);
            listening.start();
        }
    }

    private Duration listenOnce(Consumer<Ring> heard) {
        Heard answer = line.listen(LISTEN);
        answer.ring().ifPresent(heard);
        return answer.pause();
    }

    /** Rings if there is a note and the last ring is long enough ago. */
    private Duration ringOnce() {
        long wait = REST.toNanos() - (surroundings.nanos() - lastRing);
        if (wait > 0) {
            return Duration.ofNanos(wait);
        }
        Ring ring = takeNotes();
        if (ring == null) {
            return IDLE;
        }
        lastRing = surroundings.nanos();
        try {
            line.ring(ring);
        } catch (RuntimeException | Error e) {
            putBack(ring);
            throw e;
        }
        done();
        return REST;
    }

    private synchronized @Nullable Ring takeNotes() {
        if (!anywhere && topics.isEmpty()) {
            return null;
        }
        Ring ring = anywhere ? Ring.ANYWHERE : new Ring(topics);
        topics.clear();
        anywhere = false;
        atWork = true;
        return ring;
    }

    private synchronized void putBack(Ring ring) {
        anywhere |= ring.isAnywhere();
        topics.addAll(ring.topics());
        atWork = false;
    }

    private synchronized void done() {
        atWork = false;
        rung.signal();
    }

    private synchronized boolean isQuiet() {
        return !atWork && !anywhere && topics.isEmpty();
    }

    boolean isCallingItself() {
        return OwnThread.isRunningFor(this);
    }

    /** Rings for what there still is a note of, if that can be done soon, and frees the line. Only the first call does anything. */
    void stop() {
        synchronized (this) {
            if (stopped) {
                return;
            }
            stopped = true;
        }
        try {
            awaitQuiet();
            endLoops();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // in a hurry: the loops end by themselves
        } finally {
            started().forEach(BackgroundLoop::end);
            line.close();
        }
    }

    private void awaitQuiet() throws InterruptedException {
        long deadline = surroundings.nanos() + LAST_RING.toNanos();
        while (!isQuiet() && surroundings.nanos() - deadline < 0) {
            rung.await(Duration.ofMillis(20));
        }
    }

    /** Both at the same time: one that hangs takes no more than the limit of all. */
    private void endLoops() throws InterruptedException {
        started().forEach(BackgroundLoop::end);
        long deadline = surroundings.nanos() + END_TIMEOUT.toNanos();
        for (BackgroundLoop loop : started()) {
            Duration left = Duration.ofNanos(Math.max(deadline - surroundings.nanos(), 1));
            loop.awaitEnd(left);
        }
    }

    private synchronized List<BackgroundLoop> started() {
        List<BackgroundLoop> loops = new ArrayList<>();
        if (ringingStarted) {
            loops.add(ringing);
        }
        if (listening != null) {
            loops.add(listening);
        }
        return loops;
    }
}
