package dev.postrider.idempotency;

import java.time.Duration;
import java.util.function.Supplier;

/** Where commands get the one thread from that keeps up their leases. */
@FunctionalInterface
public interface Background {

    /**
     * Promises to do the duty again and again, with the pauses that it asks for.
     *
     * @return begins with it when first run, and afterwards cuts the pause short
     */
    Runnable every(Supplier<Duration> duty);
}
