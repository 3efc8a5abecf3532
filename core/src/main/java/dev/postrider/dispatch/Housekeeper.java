package dev.postrider.dispatch;

import dev.postrider.error.StoreUnavailableException;
import dev.postrider.event.Event;
import dev.postrider.event.EventListener;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.RetentionStore;
import dev.postrider.internal.store.Stores;
import dev.postrider.internal.store.SweptCommands;
import dev.postrider.store.MessageStore;
import java.time.Duration;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;

/**
 * Buries messages that were lost on their last attempt, purges rows past their retention, and publishes the summary.
 */
final class Housekeeper {

    private static final int SWEEP_LIMIT = 1000;

    /** The largest number of chunks of one kind in one round; the rest waits for the next round. */
    private static final int CHUNKS = 200;

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final MessageStore store;
    private final RetentionStore retention;
    private final DispatchOptions options;
    private final List<Topic> topics;
    private final Platform platform;
    private final EventListener events;
    private final InFlight inFlight;
    private final Supplier<OutcomeCounters> counters;
    private long lastRound;

    // Guarded by the lock of this object
    private OutcomeCounters lastCounters;
    private long lastSummary;

    private final Platform.Waiter stopped;
    private volatile boolean stopping;

    /** @param counters the outcomes of this node */
    Housekeeper(
            Stores stores,
            NodeSettings settings,
            InFlight inFlight,
            Supplier<OutcomeCounters> counters,
            Platform platform) {
        this.store = stores.messages();
        this.retention = stores.retention();
        this.options = settings.options();
        this.topics = settings.topics();
        this.events = settings.events();
        this.platform = platform;
        this.inFlight = inFlight;
        this.counters = counters;
        this.lastCounters = counters.get();
        this.lastRound = platform.nanos();
        this.lastSummary = lastRound;
        this.stopped = platform.waiter();
    }

    Duration runOnce() {
        topics.stream()
                .filter(topic -> !topic.isOrdered())
                .forEach(topic -> attempt("sweep " + topic.name(), () -> sweep(topic)));
        Duration period = Duration.ofNanos(platform.nanos() - lastRound);
        if (period.compareTo(options.housekeepingInterval()) >= 0) {
            lastRound = platform.nanos();
            summarise();
            attempt("purge", this::purge);
            attempt("maintain inbox partitions", () -> retention.maintainInboxPartitions(options.inboxRetention()));
            attempt("rebuild indexes", retention::rebuildIndexes);
            attempt("sweep commands", this::sweepCommands);
        }
        return pause();
    }

    /** Ends a running round after its current chunk. */
    void stop() {
        stopping = true;
        stopped.signal();
    }

    private Duration pause() {
        Duration interval = options.housekeepingInterval();
        return interval.compareTo(options.lease()) < 0 ? interval : options.lease();
    }

    /** Runs a step. Its failure must not prevent the other steps. */
    private void attempt(String doing, Runnable step) {
        try {
            step.run();
        } catch (StoreUnavailableException e) {
            throw e;
        } catch (RuntimeException e) {
            events.on(new Event.StoreFailed(doing, ThrowableClassifier.text(e), pause()));
        }
    }

    private void sweep(Topic topic) {
        int buried = store.sweep(topic.name(), topic.maxAttempts(), SWEEP_LIMIT);
        if (buried > 0) {
            events.on(new Event.Swept(topic.name(), buried));
        }
    }

    private void purge() {
        int archived = inChunks(limit -> retention.purgeArchive(options.archiveRetention(), limit));
        int dead = options.deadRetention()
                .map(age -> inChunks(limit -> retention.purgeDead(age, limit)))
                .orElse(0);
        int keys = inChunks(limit -> retention.purgeKeys(options.keyRetention(), limit));
        int marks = options.inboxRetention()
                .map(age -> inChunks(limit -> retention.purgeInboxMarks(age, limit)))
                .orElse(0);
        if (archived + dead + keys + marks > 0) {
            events.on(new Event.Purged(archived, dead, keys, marks));
        }
    }

    private void sweepCommands() {
        SweptCommands all = new SweptCommands(0, 0, 0);
        for (int chunk = 0; chunk < CHUNKS && !stopping; chunk++) {
            long start = platform.nanos();
            SweptCommands swept = retention.sweepCommands(options.purgeBatch());
            all = all.plus(swept);
            if (swept.total() < options.purgeBatch()) {
                break;
            }
            pauseAfterChunk(platform.nanos() - start);
        }
        if (all.total() > 0) {
            events.on(new Event.CommandsSwept(all.results(), all.removed(), all.uncertain()));
        }
    }

    private int inChunks(IntUnaryOperator purge) {
        int total = 0;
        for (int chunk = 0; chunk < CHUNKS && !stopping; chunk++) {
            long start = platform.nanos();
            int removed = purge.applyAsInt(options.purgeBatch());
            total += removed;
            if (removed < options.purgeBatch()) {
                break;
            }
            pauseAfterChunk(platform.nanos() - start);
        }
        return total;
    }

    /**
     * Waits twice as long as the chunk took, at most {@link #LONGEST_PAUSE}: a purge is not urgent, and other sessions
     * need the database.
     */
    private void pauseAfterChunk(long took) {
        try {
            stopped.await(Duration.ofNanos(Math.min(2 * took, LONGEST_PAUSE.toNanos())));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stopping = true;
        }
    }

    /** Publishes the counts since the last summary, if an attempt was made. Called after the last outcome is written. */
    void summariseRest() {
        if (hasUnpublishedAttempts()) {
            summarise();
        }
    }

    private synchronized boolean hasUnpublishedAttempts() {
        return counters.get().attempts() > lastCounters.attempts();
    }

    private void summarise() {
        events.on(nextSummary());
    }

    private synchronized Event.Summary nextSummary() {
        OutcomeCounters now = counters.get();
        long nanos = platform.nanos();
        Event.Summary summary = now.summary(lastCounters, inFlight.count(), Duration.ofNanos(nanos - lastSummary));
        lastCounters = now;
        lastSummary = nanos;
        return summary;
    }
}
