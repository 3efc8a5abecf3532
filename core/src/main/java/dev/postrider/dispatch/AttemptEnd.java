package dev.postrider.dispatch;

import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.trace.TracedEnd;

/** The end of an attempt as a tracer gets it, from the outcome of its message. */
record AttemptEnd(InFlightMessage claimed) implements LaneOutcome.Cases<TracedEnd> {

    @Override
    public TracedEnd delivered(Outcome.Delivered outcome) {
        return TracedEnd.of("delivered");
    }

    @Override
    public TracedEnd handled(Outcome.Handled outcome) {
        return TracedEnd.of("delivered");
    }

    @Override
    public TracedEnd retry(Outcome.Retry outcome) {
        return failed("retry", outcome.error());
    }

    @Override
    public TracedEnd retryOutOfOrder(LaneOutcome.RetryOutOfOrder outcome) {
        return failed("retry", outcome.error());
    }

    @Override
    public TracedEnd buried(Outcome.Buried outcome) {
        return failed("buried", outcome.error());
    }

    @Override
    public TracedEnd expired(Outcome.Expired outcome) {
        return TracedEnd.of("expired");
    }

    @Override
    public TracedEnd parked(LaneOutcome.Parked outcome) {
        return failed("parked", outcome.error());
    }

    private TracedEnd failed(String outcome, String error) {
        return new TracedEnd(outcome, null, error, claimed.causeOf(error));
    }

    @Override
    public TracedEnd blocked(LaneOutcome.Blocked outcome) {
        return TracedEnd.of("blocked");
    }

    @Override
    public TracedEnd released(Outcome.Released outcome) {
        return TracedEnd.of("released");
    }

    @Override
    public TracedEnd lost(Outcome.Lost outcome) {
        return TracedEnd.of("lost");
    }
}
