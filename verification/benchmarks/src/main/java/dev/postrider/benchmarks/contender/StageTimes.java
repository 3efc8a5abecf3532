package dev.postrider.benchmarks.contender;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLongArray;

/** The times at which messages pass the stages of Postrider, by {@link System#nanoTime}; 0 where a time is not known. Thread-safe. */
public final class StageTimes {

    private final AtomicLongArray read;
    private final AtomicLongArray called;
    private final AtomicLongArray written;

    StageTimes(int capacity) {
        read = new AtomicLongArray(capacity);
        called = new AtomicLongArray(capacity);
        written = new AtomicLongArray(capacity);
    }

    /** Records that the transport is called with this message. */
    void called(int number) {
        called.set(number, System.nanoTime());
    }

    /** Records that the outcome of this message is written. */
    void written(int number, Duration sinceRead) {
        long now = System.nanoTime();
        read.set(number, now - sinceRead.toNanos());
        written.set(number, now);
    }

    /** When the node had read or claimed the message; for a local hand-over, when it had inserted it. */
    public long readOf(int number) {
        return read.get(number);
    }

    public long calledOf(int number) {
        return called.get(number);
    }

    public long writtenOf(int number) {
        return written.get(number);
    }
}
