package dev.postrider.dispatch;

import dev.postrider.dispatch.Doorbell.Heard;
import dev.postrider.dispatch.Doorbell.Ring;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
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
 * Sends and receives the wake-ups of this node over the doorbell. A thread that commits only records its topics. One
 * loop rings for all recorded topics together: at once for the first, and then not sooner than {@link #PAUSE} later.
 * Another loop listens, once this node delivers. Thread-safe.
 */
final class DoorbellClient {

    /** The shortest time between two rings, however much is committed here. */
    private static final Duration PAUSE = Duration.ofMillis(50);

    private static final Duration LISTEN = Duration.ofMillis(250);
    private static final Duration IDLE = Duration.ofMinutes(1);

    /**
     * How long a stop waits for the last ring, so that a process that writes and exits at once still wakes the other
     * nodes.
     */
    private static final Duration LAST_RING = Duration.ofSeconds(1);

    /** How long a stop waits for both loops. Then it closes the line, which aborts blocked calls. */
    private static final Duration END_TIMEOUT = Duration.ofSeconds(2);

    private final Doorbell.Line line;
    private final Platform platform;
    private final EventListener events;
    private final BackgroundLoop ringing;
    private final Platform.Waiter rung;

    // Guarded by the lock of this object
    private final Set<TopicName> topics = new HashSet<>();
    private boolean anywhere;
    private boolean atWork;
    private boolean ringingStarted;
    private boolean stopped;
    private @Nullable BackgroundLoop listening;

    private long lastRing;

    DoorbellClient(Doorbell.Line line, Platform platform, EventListener events) {
        this.line = line;
        this.platform = platform;
        this.rung = platform.waiter();
        this.events = events;
        this.lastRing = platform.nanos() - PAUSE.toNanos();
        this.ringing = new BackgroundLoop(platform, this, "ring", events);
    }

    /** Records a commit in these topics. Returns at once. */
    synchronized void ring(Collection<TopicName> committed) {
        topics.addAll(committed);
        wakeRinger();
    }

    /** Records a commit in an unknown topic. Returns at once. */
    synchronized void ringAnywhere() {
        anywhere = true;
        wakeRinger();
    }

    private void wakeRinger() {
        if (!ringingStarted && !stopped) {
            ringingStarted = true;
            ringing.start(this::ringOnce);
        }
        ringing.wake();
    }

    /** Starts to listen for the rings of other nodes. */
    synchronized void listen(Consumer<Ring> heard) {
        if (!stopped && listening == null) {
            listening = new BackgroundLoop(platform, this, "doorbell", events);
            listening.start(() -> listenOnce(heard));
        }
    }

    private Duration listenOnce(Consumer<Ring> heard) {
        Heard answer = line.listen(LISTEN);
        answer.ring().ifPresent(heard);
        return answer.pause();
    }

    /** Rings if a commit is recorded and the last ring is long enough ago. */
    private Duration ringOnce() {
        long wait = PAUSE.toNanos() - (platform.nanos() - lastRing);
        if (wait > 0) {
            return Duration.ofNanos(wait);
        }
        Ring ring = takeRecorded();
        if (ring == null) {
            return IDLE;
        }
        lastRing = platform.nanos();
        try {
            line.ring(ring);
        } catch (RuntimeException | Error e) {
            recordAgain(ring);
            throw e;
        }
        done();
        return PAUSE;
    }

    private synchronized @Nullable Ring takeRecorded() {
        if (!anywhere && topics.isEmpty()) {
            return null;
        }
        Ring ring = anywhere ? Ring.ANYWHERE : new Ring(topics);
        topics.clear();
        anywhere = false;
        atWork = true;
        return ring;
    }

    private synchronized void recordAgain(Ring ring) {
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
        return Platform.isThreadOf(this);
    }

    /**
     * Rings for the recorded commits, if that is possible soon, and closes the line. Only the first call has an effect.
     */
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
            Thread.currentThread().interrupt(); // do not wait: the loops end by themselves
        } finally {
            started().forEach(BackgroundLoop::end);
            line.close();
        }
    }

    private void awaitQuiet() throws InterruptedException {
        long deadline = platform.nanos() + LAST_RING.toNanos();
        while (!isQuiet() && platform.nanos() - deadline < 0) {
            rung.await(Duration.ofMillis(20));
        }
    }

    /** Ends both loops at the same time: a blocked loop takes no longer than the common limit. */
    private void endLoops() throws InterruptedException {
        started().forEach(BackgroundLoop::end);
        long deadline = platform.nanos() + END_TIMEOUT.toNanos();
        for (BackgroundLoop loop : started()) {
            Duration left = Duration.ofNanos(Math.max(deadline - platform.nanos(), 1));
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
