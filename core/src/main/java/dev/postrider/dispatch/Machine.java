package dev.postrider.dispatch;

import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The surroundings of a node at work. */
final class Machine implements Surroundings {

    private static final int IDLE_SECONDS = 10;

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public Waiter waiter() {
        return new LockWaiter();
    }

    @Override
    public Thread thread(Object owner, Runnable task, String name) {
        return new OwnThread(owner, task, name);
    }

    @Override
    public ExecutorService threads(Object owner, String name, int most) {
        AtomicInteger number = new AtomicInteger();
        return new ThreadPoolExecutor(
                0,
                most,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> thread(owner, task, name + "-" + number.incrementAndGet()));
    }

    @Override
    public double chance() {
        return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    public UUID id() {
        return UUID.randomUUID();
    }
}
