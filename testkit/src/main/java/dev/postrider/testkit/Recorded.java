package dev.postrider.testkit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A list of recorded elements that a test can wait for. Thread-safe. */
final class Recorded<T> {

    private final List<T> all = new ArrayList<>();

    synchronized void add(T one) {
        all.add(one);
        notifyAll();
    }

    synchronized List<T> all() {
        return List.copyOf(all);
    }

    synchronized void clear() {
        all.clear();
    }

    /**
     * Waits until the list has at least {@code count} matching elements.
     *
     * @return all matching elements, in their order
     * @throws AssertionError after the time limit; its text has the elements that are there
     */
    synchronized List<T> await(int count, Duration limit, Predicate<? super T> wanted) {
        long begin = System.nanoTime();
        List<T> found = matching(wanted);
        while (found.size() < count) {
            long left = limit.toNanos() - (System.nanoTime() - begin);
            if (left <= 0) {
                throw new AssertionError(
                        "Expected " + count + " within " + limit + ", but there are " + found.size() + ": " + found);
            }
            pause(left);
            found = matching(wanted);
        }
        return found;
    }

    private List<T> matching(Predicate<? super T> wanted) {
        return all.stream().filter(wanted).toList();
    }

    @SuppressWarnings("WaitNotInLoop") // the caller loops
    private synchronized void pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.timedWait(this, nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while waiting for recorded elements", e);
        }
    }
}
