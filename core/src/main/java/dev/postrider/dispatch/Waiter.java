package dev.postrider.dispatch;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Waits for a while or for a signal; a signal that comes while nobody waits is kept for the next. Thread-safe. */
final class Waiter {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition signalled = lock.newCondition();
    private boolean pending;

    void await(Duration atMost) throws InterruptedException {
        long remaining = atMost.toNanos();
        lock.lockInterruptibly();
        try {
            while (!pending && remaining > 0) {
                remaining = signalled.awaitNanos(remaining);
            }
            pending = false;
        } finally {
            lock.unlock();
        }
    }

    void signal() {
        lock.lock();
        try {
            pending = true;
            signalled.signal();
        } finally {
            lock.unlock();
        }
    }
}
