package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.message.Message;
import dev.postrider.message.TopicName;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;

/** Requests scans, and wakes the loops of this node that have work now. Thread-safe. */
final class WakeUps implements CircuitBreaker.BreakerListener, LaneBalancer.LaneListener, InFlight.SlotListener {

    private final ScanSchedule scans;
    private final NodeThreads threads;
    private final Sequencers sequencers;
    private final Platform time;

    WakeUps(ScanSchedule scans, NodeThreads threads, Sequencers sequencers, Platform time) {
        this.scans = scans;
        this.threads = threads;
        this.sequencers = sequencers;
        this.time = time;
    }

    /** Requests a scan of every topic. */
    void scanNow() {
        scans.scanNow();
        threads.claim.wake();
    }

    /** Requests a scan of every topic, including the heads of blocked keys. */
    void scanEverywhere() {
        scans.scanNow();
        sequencers.forEach(sequencer -> scans.scanAfter(sequencer.topic().name(), Duration.ZERO));
        threads.claim.wake();
    }

    /** Requests scans after a ring of another node. */
    void rang(Doorbell.Ring ring) {
        if (ring.isAnywhere()) {
            scanEverywhere();
        } else {
            ring.topics().forEach(scans::scanNow);
            threads.claim.wake();
        }
    }

    /** Requests scans for messages that were committed on this node and have no lease. */
    void committed(Collection<Message> messages) {
        long now = time.wallMillis();
        for (Message message : messages) {
            Instant due = message.deliverAt();
            if (due == null || due.toEpochMilli() <= now) {
                scans.scanNow(message.topic());
            } else {
                scans.scanAfter(message.topic(), Duration.ofMillis(due.toEpochMilli() - now));
            }
        }
        threads.claim.wake();
    }

    /** Requests a scan of lanes that were acquired: they may have messages. */
    @Override
    public void lanesToRead(TopicName topic) {
        scans.scanForAll(topic);
        threads.claim.wake();
    }

    /** Wakes the loops that claim and send. The calling thread may be a thread of the application. */
    @Override
    public void slotsFreed() {
        threads.claim.wake();
        threads.handOver.wake();
    }

    /**
     * Pauses the scans of the topic. Unsent messages of its lanes are released, so that another node can acquire the
     * lanes.
     */
    @Override
    public void breakerOpened(Topic topic, Duration pause) {
        scans.pause(topic.name(), pause);
        if (topic.isOrdered()) {
            sequencers.of(topic.name()).releaseUnsent();
        }
        threads.claim.wake();
        threads.handOver.wake(); // it runs again at the end of the pause
    }
}
