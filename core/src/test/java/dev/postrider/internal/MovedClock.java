package dev.postrider.internal;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicLong;

/** Clocks that move when told. The rest is the machine's. */
public final class MovedClock implements Platform {

    private final Platform machine = Platform.system();
    private final AtomicLong nanos = new AtomicLong(-1_000_000_000_000L);
    private final AtomicLong wallMillis = new AtomicLong(1_700_000_000_000L);

    public void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
        wallMillis.addAndGet(time.toMillis());
    }

    @Override
    public long nanos() {
        return nanos.get();
    }

    @Override
    public long wallMillis() {
        return wallMillis.get();
    }

    @Override
    public Waiter waiter() {
        return machine.waiter();
    }

    @Override
    public Latch latch() {
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
