package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import java.time.Duration;

/**
 * Measures how long this node may rely on a lease: the lease of one message, or of a lane and all messages that were
 * read from it. The age counts from before the statement was sent. Two clocks measure it, and the larger age counts:
 * one of them may stand still while the computer sleeps. Thread-safe.
 */
final class LeaseValidity {

    /** The time of the last request for the lease, by both clocks. */
    record Stamp(long nanos, long wallMillis) {

        static Stamp now(Platform time) {
            return new Stamp(time.nanos(), time.wallMillis());
        }

        Duration age(Platform time) {
            return Duration.ofNanos(ageNanos(time));
        }

        private long ageNanos(Platform time) {
            long monotonic = time.nanos() - nanos;
            long wall = (time.wallMillis() - wallMillis) * 1_000_000;
            return Math.max(monotonic, wall);
        }
    }

    /**
     * The largest age of a lease at which this node may begin a delivery.
     *
     * @param platform has the clocks
     */
    record Limit(Platform platform, Duration lastStart) {

        /** Whether a delivery under this lease may begin now. */
        boolean allowsStart(LeaseValidity lease) {
            return !lease.isLost() && lease.renewed.ageNanos(platform) < lastStart.toNanos();
        }
    }

    private volatile Stamp renewed;
    private volatile boolean lost;

    LeaseValidity(Stamp asked) {
        this.renewed = asked;
    }

    void renewed(Stamp asked) {
        renewed = asked;
    }

    Duration sinceRenewal(Platform time) {
        return renewed.age(time);
    }

    /** Marks the lease as lost: another node has it, and it cannot be extended any more. */
    void lose() {
        lost = true;
    }

    boolean isLost() {
        return lost;
    }
}
