package dev.postrider.idempotency;

import dev.postrider.internal.Internal;
import java.time.Duration;
import java.util.function.Supplier;

/** Provides the threads of commands: the one that extends their leases, and those that ask probes. */
@Internal
public interface Background {

    /**
     * Promises to do the duty again and again, with the pauses that it asks for.
     *
     * @return begins with it when first run, and afterwards cuts the pause short
     */
    Runnable every(Supplier<Duration> duty);

    /** Runs the task once, on a thread of its own. */
    void start(Runnable task);
}
