package dev.postrider.idempotency;

import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** The surroundings of commands at work. */
final class Machine implements Surroundings {

    @Override
    public long nanos() {
        return System.nanoTime();
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public Gate gate() {
        CountDownLatch latch = new CountDownLatch(1);
        return new Gate() {
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
    public double chance() {
        return ThreadLocalRandom.current().nextDouble();
    }

    @Override
    public UUID id() {
        return UUID.randomUUID();
    }
}
