package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.message.TopicName;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;

/**
 * What follows from written outcomes: later messages of a key are sent, scans are requested, and the loops that wait for
 * slots or outcomes are woken. Thread-safe.
 */
final class AfterSettlement implements OutcomeWriter.Observer<LaneOutcome> {

    private final ScanSchedule scans;
    private final NodeThreads threads;
    private final Sequencers sequencers;
    private final IsolatedDelivery isolated;
    private final Platform.Waiter settled;

    /** @param settled signalled after each round of a writer */
    AfterSettlement(
            ScanSchedule scans,
            NodeThreads threads,
            Sequencers sequencers,
            IsolatedDelivery isolated,
            Platform.Waiter settled) {
        this.scans = scans;
        this.threads = threads;
        this.sequencers = sequencers;
        this.isolated = isolated;
        this.settled = settled;
    }

    @Override
    public void settled(InFlightMessage claimed, LaneOutcome outcome, Settlement settlement) {
        TopicName topic = claimed.topic().name();
        if (claimed.inLane() != null && sequencers.of(topic).settled(claimed, outcome, settlement)) {
            scans.scanForAll(topic);
        }
        if (outcome instanceof Outcome.Retry retry) {
            scans.scanAfter(topic, retry.delay());
        } else if (outcome instanceof LaneOutcome.RetryOutOfOrder retry) {
            scans.scanAfter(topic, retry.delay());
        }
    }

    /** Sends the messages that wait for a slot, and wakes the loops that wait for slots or outcomes. */
    void roundEnded() {
        for (Sequencer sequencer : sequencers) {
            sequencer.send();
            if (sequencer.hasUnread()) {
                scans.scanNow(sequencer.topic().name());
            }
            if (sequencer.hasDrained()) {
                threads.lanes.wake();
            }
        }
        settled.signal();
        isolated.progressed();
        for (Sequencer sequencer : sequencers) {
            if (sequencer.hasSuspects()) {
                threads.isolated.wake();
            }
        }
        threads.claim.wake();
    }
}
