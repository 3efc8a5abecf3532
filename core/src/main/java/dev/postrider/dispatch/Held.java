package dev.postrider.dispatch;

import dev.postrider.store.Claim;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A claim this node holds, from before the claiming statement was sent until its outcome is written. The lease is counted from
 * the time before the statement, and by whichever of the two clocks says first that it is over: a machine that slept has one
 * that did not notice.
 */
final class Held {

    private final Topic topic;
    private final Claim claim;
    private final boolean born;
    private final long startedNanos;
    private final AtomicBoolean decided = new AtomicBoolean();
    private volatile Stamp renewed;
    private volatile boolean lost;
    private volatile boolean begun;
    private volatile long answerBy;

    /** When the lease was last asked for. */
    record Stamp(long nanos, long wallMillis) {

        static Stamp now(Time time) {
            return new Stamp(time.nanos(), time.wallMillis());
        }

        Duration age(Time time) {
            long monotonic = time.nanos() - nanos;
            long wall = (time.wallMillis() - wallMillis) * 1_000_000;
            return Duration.ofNanos(Math.max(monotonic, wall));
        }
    }

    Held(Topic topic, Claim claim, Stamp asked) {
        this(topic, claim, asked, false);
    }

    private Held(Topic topic, Claim claim, Stamp asked, boolean born) {
        this.topic = topic;
        this.claim = claim;
        this.born = born;
        this.startedNanos = asked.nanos();
        this.renewed = asked;
    }

    /** A message that was inserted under this lease. */
    static Held born(Topic topic, Claim claim, Stamp asked) {
        return new Held(topic, claim, asked, true);
    }

    /** Whether it was never claimed, so that no claim waits for its slot. */
    boolean isBorn() {
        return born;
    }

    Topic topic() {
        return topic;
    }

    Claim claim() {
        return claim;
    }

    /** True for the first caller only: a claim has one outcome. */
    boolean decide() {
        return decided.compareAndSet(false, true);
    }

    boolean isDecided() {
        return decided.get();
    }

    /** The delivery begins, and must have ended after this time. */
    void begin(Time time, Duration atMost) {
        answerBy = time.nanos() + atMost.toNanos();
        begun = true;
    }

    boolean isOverdue(Time time) {
        return begun && !isDecided() && time.nanos() - answerBy > 0;
    }

    long bytes() {
        return claim.message().payload().size();
    }

    Duration sinceStart(Time time) {
        return Duration.ofNanos(time.nanos() - startedNanos);
    }

    Duration sinceRenewal(Time time) {
        return renewed.age(time);
    }

    void renewed(Stamp asked) {
        renewed = asked;
    }

    /** Another worker has it: there is nothing left to prolong. */
    void lose() {
        lost = true;
    }

    boolean isLost() {
        return lost;
    }
}
