package dev.postrider.internal;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A waiter on a lock and its condition. */
final class LockWaiter implements Platform.Waiter {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition signalled = lock.newCondition();
    private boolean pending;

    @Override
    public void await(Duration atMost) throws InterruptedException {
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

    @Override
    public void signal() {
        lock.lock();
        try {
            pending = true;
            signalled.signal();
        } finally {
            lock.unlock();
        }
    }
}
