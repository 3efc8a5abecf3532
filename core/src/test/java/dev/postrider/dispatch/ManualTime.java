package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;

/** Two clocks that move when told. They begin at values that no code may take for granted. The rest is the machine's. */
final class ManualTime implements Platform {

    private final Platform machine = Platform.system();
    /** Makes the waiters. */
    volatile Supplier<Platform.Waiter> waiters = machine::waiter;

    /** Runs before each answer of the monotonic clock. */
    volatile Runnable onNanos = () -> {};

    private volatile long nanos = -1_000_000_000_000L;
    private volatile long wallMillis = 1_700_000_000_000L;

    @Override
    public long nanos() {
        onNanos.run();
        return nanos;
    }

    @Override
    public long wallMillis() {
        return wallMillis;
    }

    @Override
    public Platform.Waiter waiter() {
        return waiters.get();
    }

    @Override
    public Platform.Latch latch() {
        return machine.latch();
    }

    @Override
    public Thread thread(Object owner, Runnable task, String name) {
        return machine.thread(owner, task, name);
    }

    @Override
    public ExecutorService threads(Object owner, String name, int most) {
        return machine.threads(owner, name, most);
    }

    @Override
    public double chance() {
        return machine.chance();
    }

    @Override
    public UUID id() {
        return machine.id();
    }

    synchronized void pass(Duration time) {
        passMonotonic(time);
        passWall(time);
    }

    synchronized void passMonotonic(Duration time) {
        nanos += time.toNanos();
    }

    synchronized void passWall(Duration time) {
        wallMillis += time.toMillis();
    }
}
