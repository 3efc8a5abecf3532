package dev.postrider.internal;

import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The clocks and threads of the JVM. */
final class SystemPlatform implements Platform {

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
    public Instant now() {
        return Instant.now();
    }

    @Override
    public Waiter waiter() {
        return new LockWaiter();
    }

    @Override
    public Latch latch() {
        CountDownLatch latch = new CountDownLatch(1);
        return new Latch() {
            @Override
            public void open() {
                latch.countDown();
            }

            @Override
            public boolean await(long nanos) throws InterruptedException {
                return latch.await(nanos, TimeUnit.NANOSECONDS);
            }
        };
    }

    @Override
    public Thread thread(Object owner, Runnable task, String name) {
        return new OwnedThread(owner, task, name);
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
