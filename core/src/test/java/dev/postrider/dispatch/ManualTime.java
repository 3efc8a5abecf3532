package dev.postrider.dispatch;

import java.time.Duration;

/** Two clocks that move when told. They begin at values that no code may take for granted. */
final class ManualTime implements Time {

    private volatile long nanos = -1_000_000_000_000L;
    private volatile long wallMillis = 1_700_000_000_000L;

    @Override
    public long nanos() {
        return nanos;
    }

    @Override
    public long wallMillis() {
        return wallMillis;
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
