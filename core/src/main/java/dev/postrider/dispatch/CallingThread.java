package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;

/**
 * The thread that calls {@link Engine#deliverDue}: it claims, and it is the executor of the handlers. A handler waits
 * in a queue until this thread runs it after a claim, or while it waits for outcomes. The threads that write outcomes
 * and send the next messages of a lane therefore never run a handler. Thread-safe.
 */
final class CallingThread implements Executor {

    private final Platform platform;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Platform.Waiter claimEnded;
    private final Platform.Waiter work;
    private volatile boolean claiming;
    private volatile boolean stopped;
    private volatile boolean closed;

    /** @param work signalled when there is a task */
    CallingThread(Platform platform, Platform.Waiter work) {
        this.platform = platform;
        this.claimEnded = platform.waiter();
        this.work = work;
    }

    // Claims

    /** Claims messages or acquires lanes, unless stopped. Called in this thread. */
    void claim(Runnable claim) {
        claiming = true; // before the check: a stop sets its flag and then looks here
        try {
            if (!stopped) {
                claim.run();
            }
        } finally {
            claiming = false;
            claimEnded.signal();
        }
    }

    boolean isStopped() {
        return stopped;
    }

    /** Lets no claim begin. A running claim continues. */
    void stop() {
        stopped = true;
    }

    /** Waits for the end of the running claim, if any. Called after {@link #stop}. */
    void awaitClaim(Duration atMost) throws InterruptedException {
        long deadline = platform.nanos() + atMost.toNanos();
        long left = atMost.toNanos();
        while (claiming && left > 0) { // an earlier claim may have left its signal
            claimEnded.await(Duration.ofNanos(left));
            left = deadline - platform.nanos();
        }
    }

    // Handlers

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        work.signal();
        if (closed) {
            runTasks();
        }
    }

    /**
     * Runs the waiting tasks, and those that they add.
     *
     * @return whether there were any
     */
    boolean runTasks() {
        boolean any = false;
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
            any = true;
        }
        return any;
    }

    /**
     * Runs every task that is left or comes later at once, in any thread. Called when the pipeline begins no further
     * deliveries, so the tasks only release messages.
     */
    void close() {
        closed = true;
        runTasks();
    }
}
