package dev.postrider.contracts.crash;

import dev.postrider.dispatch.DispatchOptions;
import java.time.Duration;

/** How a worker of these tests works: short leases, so that losing one does not take long. */
record Pace(Duration lease, Duration poll, int inFlight) {

    static final Pace QUICK = new Pace(Duration.ofSeconds(3), Duration.ofMillis(500), 20);

    /** For those whose leases are not to run out, however long a busy machine lets them wait. */
    static final Pace PATIENT = QUICK.lease(Duration.ofSeconds(30));

    Pace lease(Duration lease) {
        return new Pace(lease, poll, inFlight);
    }

    Pace inFlight(int inFlight) {
        return new Pace(lease, poll, inFlight);
    }

    void set(DispatchOptions.Builder options, String worker) {
        options.worker(worker)
                .lease(lease)
                .pollInterval(poll)
                .maxInFlight(inFlight)
                .batchSize(inFlight)
                .drainTimeout(Duration.ofSeconds(10));
    }
}
