package dev.postrider.dispatch;

import java.time.Duration;

/**
 * The schedule of one topic in the claim loop: when to scan for its messages. All times are of the monotonic clock.
 * Thread-safe, because wake-ups come from any thread.
 */
final class TopicSchedule {

    static final long NEVER = Long.MAX_VALUE;

    private final Topic topic;
    private final Claimer claimer;
    private final Backoff backoff = new Backoff();
    private boolean wanted;
    private long dueAt = NEVER;
    private long notBefore;
    private long lastClaim;

    TopicSchedule(Topic topic, Claimer claimer, long now) {
        this.topic = topic;
        this.claimer = claimer;
        this.notBefore = now;
        this.lastClaim = now - Duration.ofHours(1).toNanos();
    }

    Topic topic() {
        return topic;
    }

    Claimer claimer() {
        return claimer;
    }

    /** Requests a scan: there may be messages to claim. */
    synchronized void want() {
        wanted = true;
    }

    /** Requests a scan at this time. The earliest request is kept. */
    synchronized void dueAt(long nanos) {
        if (dueAt == NEVER || nanos - dueAt < 0) {
            dueAt = nanos;
        }
    }

    /** The nanoseconds until the next scan: 0 or less for now, {@link #NEVER} if no scan is requested. */
    synchronized long waitFrom(long now) {
        if (!wanted && dueAt == NEVER) {
            return NEVER;
        }
        return Math.max(wanted ? 0 : dueAt - now, notBefore - now);
    }

    /**
     * Starts a scan. Called before the statement is sent, so that a wake-up during the statement counts for the next
     * scan.
     *
     * @return whether a message was known to be due, and not only possible
     */
    synchronized boolean begin(long now) {
        boolean due = dueAt != NEVER && dueAt - now <= 0;
        wanted = false;
        dueAt = due ? NEVER : dueAt;
        return due;
    }

    /** Requests the same scan again after a failure. */
    synchronized void again(boolean due, long now) {
        wanted = true;
        if (due) {
            dueAt(now);
        }
    }

    synchronized void claimed(long now) {
        lastClaim = now;
        backoff.reset();
    }

    synchronized long sinceClaim(long now) {
        return now - lastClaim;
    }

    /** Prevents scans before this time, and requests one for this time. */
    synchronized void rest(long until) {
        notBefore = until;
        wanted = true;
    }

    /** Prevents scans for a pause that grows with each failure. */
    synchronized Duration failed(long now) {
        Duration pause = backoff.next();
        notBefore = now + pause.toNanos();
        return pause;
    }
}
