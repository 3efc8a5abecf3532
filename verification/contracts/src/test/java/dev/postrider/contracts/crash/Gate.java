package dev.postrider.contracts.crash;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets through while it is open. */
final class Gate {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition opened = lock.newCondition();
    private boolean open = true;

    void set(boolean open) {
        lock.lock();
        try {
            this.open = open;
            opened.signalAll();
        } finally {
            lock.unlock();
        }
    }

    void pass() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!open) {
                opened.await();
            }
        } finally {
            lock.unlock();
        }
    }
}
