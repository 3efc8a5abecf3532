package dev.postrider.dispatch;

import dev.postrider.error.StoreException;
import dev.postrider.event.NodeLoad;
import dev.postrider.internal.Platform;
import dev.postrider.internal.store.HandOver;
import dev.postrider.internal.store.Stores;
import dev.postrider.message.Message;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts and stops the threads of a dispatcher, and gives each of them its duty. One loop claims and reads messages, one
 * delivers the local hand-over, one writes the outcomes of claimed messages, two write the outcomes of messages from
 * lanes, one extends leases, one balances lanes, one delivers suspects, and one does the housekeeping. Used once: either
 * {@link #start} and {@link #stop}, or {@link #deliverDue}. Thread-safe.
 */
final class Engine {

    private static final Logger log = LoggerFactory.getLogger(Engine.class);

    private static final Duration FLUSH_TIMEOUT = Duration.ofSeconds(5);

    private final DispatchOptions options;
    private final Platform platform;
    private final NodeParts parts;
    private final NodeThreads threads;
    private final InFlight inFlight;
    private final CallingThread callingThread;
    private boolean stopped;

    /**
     * @param handOver takes over the messages that handlers send
     * @param inCallersThread whether handlers run in the thread that calls {@link #deliverDue}
     */
    Engine(Stores stores, NodeSettings settings, HandOver handOver, boolean inCallersThread, Platform platform) {
        this.options = settings.options();
        this.platform = platform;
        this.parts = new NodeParts(stores, settings, handOver, inCallersThread, platform);
        this.threads = parts.threads;
        this.inFlight = parts.inFlight;
        this.callingThread = parts.callingThread;
    }

    /** Requests scans, and wakes loops. */
    WakeUps wakeUps() {
        return parts.wakeUps;
    }

    HandOver.Reservation reserve(List<Message> messages) {
        return parts.localHandOver.reserve(messages);
    }

    int inFlight() {
        return inFlight.count();
    }

    NodeLoad.TopicLoad load(Topic topic) {
        return parts.load(topic);
    }

    /** Whether {@link #stop} would wait for the calling thread. */
    boolean isCallingItself() {
        return threads.isCaller();
    }

    // Start

    void start() {
        parts.breakers.values().forEach(CircuitBreaker::arm);
        startWriting();
        if (!parts.breakers.isEmpty()) { // one for each topic
            threads.lanes.start(parts.laneBalancer::runOnce);
        }
        threads.handOver.start(this::handOver);
        threads.claim.start(parts.claims::runOnce);
        threads.housekeeping.start(parts.housekeeper::runOnce);
    }

    private void startWriting() {
        threads.settleRows.start(() -> settle(parts.rowWriter));
        threads.lease.start(this::checkLeases);
        if (!parts.sequencers.isEmpty()) {
            for (int i = 0; i < threads.settleLanes.size(); i++) {
                OutcomeWriter<?> writer = parts.laneWriters.get(i);
                threads.settleLanes.get(i).start(() -> settle(writer));
            }
            threads.isolated.start(parts.isolated::runOnce);
        }
    }

    // Duties of more than one component

    /**
     * Delivers the messages that were committed on this node, and sends messages of lanes that wait for a slot. Freed
     * slots and the end of a breaker's pause wake this loop, because the thread that frees slots may be a thread of the
     * application.
     */
    private Duration handOver() {
        Duration pause = parts.localHandOver.runOnce();
        parts.sequencers.send();
        for (CircuitBreaker breaker : parts.breakers.values()) {
            Duration left = breaker.pauseLeft();
            pause = left.isZero() || left.compareTo(pause) >= 0 ? pause : left;
        }
        return pause;
    }

    private Duration settle(OutcomeWriter<?> writer) {
        Duration pause = writer.runOnce();
        parts.afterSettlement.roundEnded();
        return pause;
    }

    private Duration checkLeases() {
        parts.pipeline.giveUpOverdue(inFlight.all());
        parts.localHandOver.freeExpired();
        return parts.leaseExtender.runOnce();
    }

    // Delivery in the calling thread

    /**
     * Claims in the calling thread until no message is due any more or {@link #stop} is called, and stops. Returns the
     * number of attempts.
     */
    long deliverDue() {
        synchronized (this) { // a stop may come first
            if (stopped) {
                return 0;
            }
            startWriting();
        }
        try {
            deliverRounds();
        } finally {
            stop();
        }
        return parts.outcomes.counters().attempts();
    }

    private void deliverRounds() {
        if (!parts.sequencers.isEmpty()) {
            callingThread.claim(parts.laneBalancer::runOnce);
            threads.lanes.start(parts.laneBalancer::runOnce); // renews the lanes while handlers run
        }
        long before;
        do {
            before = parts.outcomes.counters().total();
            parts.claims.claimEach(claim -> {
                callingThread.claim(claim);
                callingThread.runTasks();
            });
            awaitOutcomes();
        } while (parts.outcomes.counters().total() > before
                && !callingThread.isStopped()
                && !Thread.currentThread().isInterrupted());
    }

    /** Runs handlers until no message is in flight. Ends earlier when {@link #stop} is called: that waits for the rest. */
    private void awaitOutcomes() {
        try {
            while (inFlight.count() > 0 && !callingThread.isStopped()) {
                awaitProgress();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs the waiting handlers, or waits for an outcome. No transport takes as long as a lease. */
    private void awaitProgress() throws InterruptedException {
        long before = parts.outcomes.counters().total();
        long deadline = platform.nanos() + options.lease().multipliedBy(2).toNanos();
        while (!callingThread.runTasks()
                && inFlight.count() > 0
                && !callingThread.isStopped()
                && parts.outcomes.counters().total() == before) {
            if (platform.nanos() - deadline >= 0) {
                throw new StoreException(
                        "The outcomes of " + inFlight.count() + " messages could not be written: see the log", null);
            }
            parts.settled.await(Duration.ofMillis(50));
        }
    }

    // Stop

    /**
     * Stops claiming, waits for running deliveries, releases the rest and writes those outcomes. Only the first call
     * has an effect.
     */
    synchronized void stop() {
        if (!stopped) {
            stopped = true;
            callingThread.stop();
            drain();
            release();
            flush();
            parts.housekeeper.summariseRest();
        }
    }

    private void drain() {
        parts.localHandOver.close();
        threads.claim.end();
        parts.isolated.stop();
        threads.isolated.end();
        parts.sequencers.forEach(Sequencer::close);
        parts.pipeline.drain();
        callingThread.close();
        parts.laneBalancer.stop();
        threads.lanes.wake();
        parts.housekeeper.stop();
        threads.housekeeping.end();
        try {
            threads.claim.awaitEnd(options.lease());
            callingThread.awaitClaim(options.lease());
            threads.housekeeping.awaitEnd(FLUSH_TIMEOUT);
            awaitIdle(options.drainTimeout());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // continue without waiting for deliveries
        }
    }

    /** Releases the rest before handlers are interrupted, so that an interrupted handler does not count as failed. */
    private void release() {
        parts.pipeline.close();
        inFlight.all().forEach(parts.outcomes::released);
        threads.endPools();
    }

    /**
     * Writes the outcomes even if the caller is interrupted: a message without a written outcome is delivered twice.
     */
    private void flush() {
        boolean interrupted = Thread.interrupted();
        try {
            if (!awaitIdle(FLUSH_TIMEOUT)) {
                log.warn("Stopped with {} outcomes unwritten; their leases will expire", inFlight.count());
            }
            endWriting();
            threads.handOver.awaitEnd(FLUSH_TIMEOUT);
            threads.lease.awaitEnd(FLUSH_TIMEOUT);
            threads.settleRows.awaitEnd(FLUSH_TIMEOUT);
            for (BackgroundLoop loop : threads.settleLanes) {
                loop.awaitEnd(FLUSH_TIMEOUT);
            }
            threads.isolated.awaitEnd(FLUSH_TIMEOUT);
            if (threads.lanes.awaitEnd(FLUSH_TIMEOUT)) {
                leaveLanes(); // otherwise its thread waits for the database, and this one would too
            }
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            endWriting();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void endWriting() {
        threads.handOver.end();
        threads.lease.end();
        threads.settleRows.end();
        threads.settleLanes.forEach(BackgroundLoop::end);
        threads.lanes.end();
    }

    /** Releases the lanes at once. Otherwise other nodes would wait for the end of their leases. */
    private void leaveLanes() {
        try {
            parts.laneBalancer.leave();
        } catch (StoreException e) {
            log.warn("Stopped without releasing its lanes; their leases will expire", e);
        }
    }

    private boolean awaitIdle(Duration atMost) throws InterruptedException {
        long deadline = platform.nanos() + atMost.toNanos();
        while (inFlight.count() > 0 && platform.nanos() - deadline < 0) {
            parts.settled.await(Duration.ofMillis(50));
        }
        return inFlight.count() == 0;
    }
}
