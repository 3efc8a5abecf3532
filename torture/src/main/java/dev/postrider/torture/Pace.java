package dev.postrider.torture;

import dev.postrider.dispatch.DispatchOptions;
import java.time.Duration;

/** How fast the nodes of a run are. */
enum Pace {
    /** A short lease, so that much is lost and taken over in little time. */
    HURRIED(Duration.ofSeconds(5), Duration.ofMillis(3500), Duration.ofSeconds(4)),

    /** Nothing is broken but some topics misbehave, for longer than a lease. */
    TROUBLED(Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofMinutes(2)),

    /** Nothing is broken: whoever stands still for seconds because the machine is busy has not lost anything. */
    CALM(Duration.ofSeconds(40), Duration.ofSeconds(25), Duration.ofMinutes(2));

    static final Duration POLL = Duration.ofMillis(500);
    static final int MAX_ATTEMPTS = 50;
    static final int IN_FLIGHT = 64;

    /** Short enough that some dead letters are purged before the operator has come to them, and while he does. */
    static final Duration DEAD_RETENTION = Duration.ofSeconds(10);

    private final Duration lease;
    private final Duration delivery;
    private final Duration answer;

    Pace(Duration lease, Duration delivery, Duration answer) {
        this.lease = lease;
        this.delivery = delivery;
        this.answer = answer;
    }

    static Pace of(Arguments arguments) {
        return !arguments.faults().isEmpty() ? HURRIED : arguments.trouble() ? TROUBLED : CALM;
    }

    Duration lease() {
        return lease;
    }

    /** After this a delivery has ended for certain: within the lease and what must be left of it. */
    Duration delivery() {
        return delivery;
    }

    /** How long a statement may take before its connection is given up. */
    Duration answer() {
        return answer;
    }

    void set(DispatchOptions.Builder options, String worker) {
        options.worker(worker)
                .lease(lease)
                .pollInterval(POLL)
                .maxInFlight(IN_FLIGHT)
                .batchSize(IN_FLIGHT)
                .drainTimeout(Duration.ofSeconds(8))
                .deadRetention(DEAD_RETENTION)
                .housekeepingInterval(Duration.ofSeconds(2));
    }
}
