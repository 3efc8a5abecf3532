package dev.postrider.idempotency;

import java.time.Instant;
import java.util.UUID;

/**
 * All that commands take from the machine they run on: clocks, a way to wait, chance. It comes in through constructors, so that they
 * can be run where time passes as somebody says and everything happens in an order that can be repeated. Thread-safe.
 */
interface Surroundings {

    /** By a clock that nobody sets. */
    long nanos();

    /** By the wall clock. */
    Instant now();

    /** One that is shut. */
    Gate gate();

    /** Uniform in [0, 1). */
    double chance();

    /** One that nobody else has. */
    UUID id();

    /** The machine as it is. */
    static Surroundings system() {
        return new Machine();
    }
}
