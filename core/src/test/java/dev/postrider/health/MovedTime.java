package dev.postrider.health;

import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;

/** A clock that moves when told. The rest is the machine's. */
final class MovedTime implements Platform {

    private final Platform machine = Platform.system();
    private long nanos = -1_000_000_000_000L;

    void pass(Duration time) {
        nanos += time.toNanos();
    }

    @Override
    public long nanos() {
        return nanos;
    }

    @Override
    public long wallMillis() {
        return machine.wallMillis();
    }

    @Override
    public Platform.Waiter waiter() {
        return machine.waiter();
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
}
