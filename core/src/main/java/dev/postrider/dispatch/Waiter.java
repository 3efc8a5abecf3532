package dev.postrider.dispatch;

import java.time.Duration;

/** Waits for a while or for a signal; a signal that comes while nobody waits is kept for the next. Thread-safe. */
interface Waiter {

    void await(Duration atMost) throws InterruptedException;

    /** Never waits itself. */
    void signal();
}
