package dev.postrider.store;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a message of a lane, written under the lease of the lane: any {@link Outcome}, or one of the three
 * that only a lane has. Immutable. The constructors check their parts as those of {@link Outcome} do.
 */
public sealed interface LaneOutcome
        permits Outcome, LaneOutcome.RetryOutOfOrder, LaneOutcome.Parked, LaneOutcome.Blocked {

    /** Returns the claim that has this outcome. */
    Claim claim();

    /** Calls the method for the kind of this outcome, and returns its result. */
    <T> T fold(Cases<T> cases);

    /**
     * One method for each kind of outcome.
     *
     * @param <T> the result of {@link LaneOutcome#fold}
     */
    interface Cases<T> extends Outcome.Cases<T> {

        T retryOutOfOrder(RetryOutOfOrder outcome);

        T parked(Parked outcome);

        T blocked(Blocked outcome);
    }

    /**
     * The message is retried after the delay, and the later messages of its key do not wait for it.
     *
     * @param took how long the delivery took, for operators; null if it is not known
     */
    record RetryOutOfOrder(
            Claim claim,
            Duration delay,
            String error,
            @Nullable Duration took) implements LaneOutcome {

        public RetryOutOfOrder {
            OutcomeCheck.part("claim", claim);
            OutcomeCheck.delay(delay);
            OutcomeCheck.part("error", error);
        }

        public RetryOutOfOrder(Claim claim, Duration delay, String error) {
            this(claim, delay, error, null);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.retryOutOfOrder(this);
        }
    }

    /**
     * The message waits for an operator, and the later messages of its key wait behind it.
     *
     * @param took how long the last delivery took, for operators; null if it is not known
     */
    record Parked(
            Claim claim,
            DeadReason reason,
            String error,
            @Nullable Duration took) implements LaneOutcome {

        public Parked {
            OutcomeCheck.part("claim", claim);
            OutcomeCheck.part("reason", reason);
            OutcomeCheck.part("error", error);
        }

        public Parked(Claim claim, DeadReason reason, String error) {
            this(claim, reason, error, null);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.parked(this);
        }
    }

    /** The message was not attempted because its key is blocked. It waits behind the head of the key. */
    record Blocked(Claim claim) implements LaneOutcome {

        public Blocked {
            OutcomeCheck.part("claim", claim);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.blocked(this);
        }
    }
}
