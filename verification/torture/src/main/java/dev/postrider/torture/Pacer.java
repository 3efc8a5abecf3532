package dev.postrider.torture;

import java.util.concurrent.TimeUnit;

/** Limits the rate of messages. Callers above the rate wait. Thread-safe. */
final class Pacer {

    private static final double MOST_SAVED_UP = 0.2;

    private double perSecond;
    private double allowed;
    private long last = System.nanoTime();

    /** Sets the rate. 0 stops all callers. */
    synchronized void rate(double perSecond) {
        refill();
        this.perSecond = perSecond;
        notifyAll();
    }

    /** Waits until this many messages may pass. Waiting callers share the rate. */
    synchronized void pass(int count) throws InterruptedException {
        refill();
        while (allowed <= 0) {
            TimeUnit.MILLISECONDS.timedWait(this, perSecond > 0 ? 1 + (long) (-allowed * 1000 / perSecond) : 1000);
            refill();
        }
        allowed -= count;
    }

    private void refill() {
        long now = System.nanoTime();
        allowed = Math.min(allowed + (now - last) * perSecond / 1e9, Math.max(1, perSecond * MOST_SAVED_UP));
        last = now;
        if (perSecond <= 0) {
            allowed = Math.min(allowed, 0);
        }
    }
}
