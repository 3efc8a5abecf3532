package dev.postrider.contracts.crash;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits until something is so, and not for ever. */
final class Await {

    private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(5);

    private Await() {}

    static void until(Duration atMost, Supplier<String> failure, BooleanSupplier condition) {
        long deadline = System.nanoTime() + atMost.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("Not within " + atMost.toMillis() + " ms: " + failure.get());
            }
            LockSupport.parkNanos(LOOK_EVERY);
        }
    }

    /** For as long as it takes anything on a busy machine, when the time is not what is tested. */
    static void until(Supplier<String> failure, BooleanSupplier condition) {
        until(Duration.ofSeconds(60), failure, condition);
    }
}
