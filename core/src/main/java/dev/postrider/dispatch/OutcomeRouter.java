package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.internal.store.LaneClaim;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import java.util.List;
import java.util.Objects;

/**
 * Passes each outcome to its writer: outcomes of rows directly, outcomes of lanes through the sequencer of their topic.
 * The first outcome ends the span of the attempt. Thread-safe.
 */
final class OutcomeRouter implements OutcomeReceiver, Sequencer.Writer {

    private final OutcomeWriter<Outcome> rows;
    private final List<OutcomeWriter<LaneOutcome>> lanes;
    private final Sequencers sequencers;
    private final Platform time;

    /** @param lanes the writers of lanes; each lane has one of them, by its number */
    OutcomeRouter(
            OutcomeWriter<Outcome> rows, List<OutcomeWriter<LaneOutcome>> lanes, Sequencers sequencers, Platform time) {
        this.rows = rows;
        this.lanes = List.copyOf(lanes);
        this.sequencers = sequencers;
        this.time = time;
    }

    @Override
    public void decided(InFlightMessage claimed, Outcome decided) {
        Outcome outcome = timed(claimed, decided);
        LaneClaim inLane = claimed.inLane();
        if (inLane == null) {
            claimed.endSpan(outcome);
            rows.add(claimed, outcome);
        } else {
            LaneOutcome ofLane = OutcomeDecider.inLane(claimed.topic(), inLane, outcome);
            claimed.endSpan(ofLane); // not in the lock of the sequencer
            sequencers.of(claimed.topic().name()).decided(claimed, ofLane);
        }
    }

    /** Adds how long the delivery took to the outcome of a failed attempt. */
    private Outcome timed(InFlightMessage claimed, Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            return new Outcome.Retry(retry.claim(), retry.delay(), retry.error(), claimed.sinceDelivery(time));
        }
        if (outcome instanceof Outcome.Buried buried) {
            return new Outcome.Buried(buried.claim(), buried.reason(), buried.error(), claimed.sinceDelivery(time));
        }
        return outcome;
    }

    /**
     * Adds an outcome to the one writer of its lane, so that outcomes are written in the order in which they were
     * decided.
     */
    @Override
    public boolean add(InFlightMessage claimed, LaneOutcome outcome) {
        int lane = Objects.requireNonNull(claimed.inLane()).lane();
        return lanes.get(lane % lanes.size()).add(claimed, outcome);
    }

    /** The outcomes of all writers. */
    OutcomeCounters counters() {
        return lanes.stream().map(OutcomeWriter::counters).reduce(rows.counters(), OutcomeCounters::sum);
    }
}
