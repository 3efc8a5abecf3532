package dev.postrider.torture;

import dev.postrider.dispatch.DispatchOptions;
import java.time.Duration;

/** How fast the nodes of a run are. */
enum Pace {
    /** A short lease, so that much is lost and taken over in little time. */
    HURRIED(Duration.ofSeconds(5), Duration.ofMillis(3500)),

    /** Nothing is broken: whoever stands still for seconds because the machine is busy has not lost anything. */
    CALM(Duration.ofSeconds(40), Duration.ofSeconds(25));

    static final Duration POLL = Duration.ofMillis(500);
    static final int MAX_ATTEMPTS = 50;
    static final int IN_FLIGHT = 64;

    /** Short enough that some dead letters are purged before the operator has come to them, and while he does. */
    static final Duration DEAD_RETENTION = Duration.ofSeconds(10);

    private final Duration lease;
    private final Duration delivery;

    Pace(Duration lease, Duration delivery) {
        this.lease = lease;
        this.delivery = delivery;
    }

    static Pace of(Arguments arguments) {
        return arguments.faults().isEmpty() ? CALM : HURRIED;
    }

    Duration lease() {
        return lease;
    }

    /** After this a delivery has ended for certain: within the lease and what must be left of it. */
    Duration delivery() {
        return delivery;
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
