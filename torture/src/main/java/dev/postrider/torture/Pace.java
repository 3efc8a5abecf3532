package dev.postrider.torture;

import dev.postrider.dispatch.DispatchOptions;
import java.time.Duration;

/** How fast the nodes of a run are: a short lease, so that much is lost and taken over in little time. */
final class Pace {

    static final Duration LEASE = Duration.ofSeconds(5);
    static final Duration POLL = Duration.ofMillis(500);
    static final int MAX_ATTEMPTS = 50;
    static final int IN_FLIGHT = 64;

    /** Short enough that some dead letters are purged before the operator has come to them, and while he does. */
    static final Duration DEAD_RETENTION = Duration.ofSeconds(10);

    /** After this a delivery has ended for certain: within the lease and what must be left of it. */
    static final Duration DELIVERY = Duration.ofMillis(3500);

    private Pace() {}

    static void set(DispatchOptions.Builder options, String worker) {
        options.worker(worker)
                .lease(LEASE)
                .pollInterval(POLL)
                .maxInFlight(IN_FLIGHT)
                .batchSize(IN_FLIGHT)
                .drainTimeout(Duration.ofSeconds(8))
                .deadRetention(DEAD_RETENTION)
                .housekeepingInterval(Duration.ofSeconds(2));
    }
}
