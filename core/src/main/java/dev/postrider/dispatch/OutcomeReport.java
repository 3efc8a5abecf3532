package dev.postrider.dispatch;

import dev.postrider.dispatch.OutcomeCounters.Counted;
import dev.postrider.event.Event;
import dev.postrider.message.Message;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.store.Settlement;
import java.time.Duration;

/** The counter and the event of an outcome that was written, or whose lease was lost. */
record OutcomeReport(Counted counted, Event event) {

    /** @param sinceStart the time since the message was claimed or read */
    static OutcomeReport of(InFlightMessage claimed, LaneOutcome outcome, Settlement settlement, Duration sinceStart) {
        Message message = claimed.claim().message();
        int attempt = claimed.claim().attempt();
        if (settlement instanceof Settlement.LeaseLost lost) {
            return new OutcomeReport(
                    Counted.LOST,
                    lost.finished()
                            ? new Event.AlreadyFinished(message, attempt)
                            : new Event.LeaseLost(message, attempt));
        }
        return outcome.fold(
                new ReportCases(claimed, message, attempt, claimed.topic().maxAttempts(), sinceStart));
    }

    private record ReportCases(
            InFlightMessage claimed, Message message, int attempt, int maxAttempts, Duration sinceStart)
            implements LaneOutcome.Cases<OutcomeReport> {

        @Override
        public OutcomeReport delivered(Outcome.Delivered outcome) {
            return delivered();
        }

        @Override
        public OutcomeReport handled(Outcome.Handled outcome) {
            return delivered();
        }

        private OutcomeReport delivered() {
            return new OutcomeReport(Counted.DELIVERED, new Event.Delivered(message, attempt, sinceStart));
        }

        @Override
        public OutcomeReport retry(Outcome.Retry outcome) {
            return failed(outcome.error(), outcome.delay());
        }

        @Override
        public OutcomeReport retryOutOfOrder(LaneOutcome.RetryOutOfOrder outcome) {
            return failed(outcome.error(), outcome.delay());
        }

        private OutcomeReport failed(String error, Duration delay) {
            return new OutcomeReport(
                    Counted.FAILED,
                    new Event.Failed(message, attempt, maxAttempts, error, delay, claimed.causeOf(error)));
        }

        @Override
        public OutcomeReport buried(Outcome.Buried outcome) {
            String error = outcome.error();
            return new OutcomeReport(
                    Counted.BURIED,
                    new Event.Buried(
                            message, attempt, maxAttempts, outcome.reason().name(), error, claimed.causeOf(error)));
        }

        @Override
        public OutcomeReport parked(LaneOutcome.Parked outcome) {
            String error = outcome.error();
            return new OutcomeReport(
                    Counted.PARKED,
                    new Event.Parked(
                            message, attempt, maxAttempts, outcome.reason().name(), error, claimed.causeOf(error)));
        }

        @Override
        public OutcomeReport blocked(LaneOutcome.Blocked outcome) {
            return new OutcomeReport(Counted.BLOCKED, new Event.Blocked(message));
        }

        @Override
        public OutcomeReport expired(Outcome.Expired outcome) {
            return new OutcomeReport(Counted.EXPIRED, new Event.Expired(message, attempt - 1, outcome.removed()));
        }

        @Override
        public OutcomeReport released(Outcome.Released outcome) {
            return released();
        }

        @Override
        public OutcomeReport lost(Outcome.Lost outcome) {
            return released();
        }

        private OutcomeReport released() {
            return new OutcomeReport(Counted.RELEASED, new Event.Released(message));
        }
    }
}
