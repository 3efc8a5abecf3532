package dev.postrider.torture;

import dev.postrider.dispatch.DispatchOptions;
import java.time.Duration;

/** The lease and the timeouts of the nodes of a run. */
enum Pace {
    /** With faults: a short lease, so that many leases are lost and taken over in little time. */
    HURRIED(Duration.ofSeconds(5), Duration.ofMillis(3500), Duration.ofSeconds(4)),

    /** No faults, but some topics misbehave, for longer than a lease. */
    TROUBLED(Duration.ofSeconds(15), Duration.ofSeconds(10), Duration.ofMinutes(2)),

    /** No faults: a process that stands still for seconds on a busy computer must not lose its lease. */
    CALM(Duration.ofSeconds(40), Duration.ofSeconds(25), Duration.ofMinutes(2));

    static final Duration POLL = Duration.ofMillis(500);
    static final int MAX_ATTEMPTS = 50;
    static final int IN_FLIGHT = 64;

    /** Short enough that some dead letters are purged before or while the operator acts on them. */
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

    /** The delivery timeout. A delivery has ended by then, within the lease and its safety margin. */
    Duration delivery() {
        return delivery;
    }

    /** How long a statement may take before its connection is closed. */
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
