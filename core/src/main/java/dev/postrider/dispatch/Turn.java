package dev.postrider.dispatch;

import java.time.Duration;

/**
 * One topic's place in the claim loop: when to look for its messages. All times are of the monotonic clock. Thread-safe, since
 * wake-ups come from any thread.
 */
final class Turn {

    static final long NEVER = Long.MAX_VALUE;

    private final Topic topic;
    private final Claimer claimer;
    private final Backoff backoff = new Backoff();
    private boolean wanted;
    private long dueAt = NEVER;
    private long notBefore;
    private long lastClaim;

    Turn(Topic topic, Claimer claimer, long now) {
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

    /** There may be something to claim now. */
    synchronized void want() {
        wanted = true;
    }

    /** There will be something to claim then; the earliest such time is kept. */
    synchronized void dueAt(long nanos) {
        if (dueAt == NEVER || nanos - dueAt < 0) {
            dueAt = nanos;
        }
    }

    /** In how many nanoseconds to look, 0 or less for now, {@link #NEVER} if nothing is known to come. */
    synchronized long waitFrom(long now) {
        if (!wanted && dueAt == NEVER) {
            return NEVER;
        }
        return Math.max(wanted ? 0 : dueAt - now, notBefore - now);
    }

    /**
     * Called before the statement is sent, so that a wake-up that comes while it runs counts for the next look.
     *
     * @return whether something was known to be due, rather than only possible
     */
    synchronized boolean begin(long now) {
        boolean due = dueAt != NEVER && dueAt - now <= 0;
        wanted = false;
        dueAt = due ? NEVER : dueAt;
        return due;
    }

    /** The look came to nothing and is to be repeated. */
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

    /** Not before then, whoever wants it; and then in any case. */
    synchronized void rest(long until) {
        notBefore = until;
        wanted = true;
    }

    /** Not again for a while, whoever wants it. */
    synchronized Duration failed(long now) {
        Duration pause = backoff.next();
        notBefore = now + pause.toNanos();
        return pause;
    }
}
