package dev.postrider.dispatch;

import java.time.Duration;

/**
 * For how long this node may rely on a lease: of one message, or of a lane and all that was read from it. Counted from before the
 * statement was sent, and by whichever of the two clocks says first that it is over: a machine that slept has one that did not
 * notice. Thread-safe.
 */
final class Tenure {

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

    private volatile Stamp renewed;
    private volatile boolean lost;

    Tenure(Stamp asked) {
        this.renewed = asked;
    }

    void renewed(Stamp asked) {
        renewed = asked;
    }

    Duration sinceRenewal(Time time) {
        return renewed.age(time);
    }

    /** Another worker has it: there is nothing left to prolong. */
    void lose() {
        lost = true;
    }

    boolean isLost() {
        return lost;
    }
}
