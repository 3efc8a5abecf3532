package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a claim, written under its lease. A message of a lane can have three more outcomes:
 * {@link LaneOutcome}. Immutable. The constructors throw {@link InvalidConfigurationException} when a part is null, or
 * when a delay is negative or longer than {@link #LONGEST_DELAY}.
 */
public sealed interface Outcome extends LaneOutcome {

    /** The longest delay: ten years. */
    Duration LONGEST_DELAY = Duration.ofDays(3650);

    /** Calls the method for the kind of this outcome, and returns its result. */
    <T> T fold(Cases<T> cases);

    @Override
    default <T> T fold(LaneOutcome.Cases<T> cases) {
        Cases<T> ofRows = cases;
        return fold(ofRows);
    }

    /**
     * One method for each kind of outcome.
     *
     * @param <T> the result of {@link Outcome#fold}
     */
    interface Cases<T> {

        T delivered(Delivered outcome);

        T retry(Retry outcome);

        T buried(Buried outcome);

        T expired(Expired outcome);

        T released(Released outcome);

        T handled(Handled outcome);

        T lost(Lost outcome);
    }

    /** The destination confirmed the message. It leaves the live table. */
    record Delivered(Claim claim) implements Outcome {

        public Delivered {
            OutcomeCheck.part("claim", claim);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.delivered(this);
        }
    }

    /**
     * The delivery failed. The message is retried after the delay, by the clock of the database.
     *
     * @param took how long the delivery took, for operators; null if it is not known
     */
    record Retry(
            Claim claim,
            Duration delay,
            String error,
            @Nullable Duration took) implements Outcome {

        public Retry {
            OutcomeCheck.part("claim", claim);
            OutcomeCheck.delay(delay);
            OutcomeCheck.part("error", error);
        }

        public Retry(Claim claim, Duration delay, String error) {
            this(claim, delay, error, null);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.retry(this);
        }
    }

    /**
     * The message is not attempted again and becomes a dead letter.
     *
     * @param took how long the last delivery took, for operators; null if it is not known
     */
    record Buried(
            Claim claim,
            DeadReason reason,
            String error,
            @Nullable Duration took) implements Outcome {

        public Buried {
            OutcomeCheck.part("claim", claim);
            OutcomeCheck.part("reason", reason);
            OutcomeCheck.part("error", error);
        }

        public Buried(Claim claim, DeadReason reason, String error) {
            this(claim, reason, error, null);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.buried(this);
        }
    }

    /**
     * The message expired before this attempt began, and the attempt does not count. The message becomes a dead letter
     * with the reason {@link DeadReason#EXPIRED}, or it is removed and not archived.
     *
     * @param removed whether it is removed
     */
    record Expired(Claim claim, boolean removed) implements Outcome {

        public Expired {
            OutcomeCheck.part("claim", claim);
        }

        /** Returns the text that is stored as the error of the dead letter. */
        public String error() {
            return "Not delivered before it expired at " + claim.message().expiresAt();
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.expired(this);
        }
    }

    /** The message was not attempted. It can be claimed immediately, and the attempt does not count. */
    record Released(Claim claim) implements Outcome {

        public Released {
            OutcomeCheck.part("claim", claim);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.released(this);
        }
    }

    /**
     * The transaction that handled the message has already removed it. Nothing is written, except that in a lane its
     * key continues.
     */
    record Handled(Claim claim) implements Outcome {

        public Handled {
            OutcomeCheck.part("claim", claim);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.handled(this);
        }
    }

    /** The claim lost the message before it was handled. Nothing was done, and nothing is written. */
    record Lost(Claim claim) implements Outcome {

        public Lost {
            OutcomeCheck.part("claim", claim);
        }

        @Override
        public <T> T fold(Cases<T> cases) {
            return cases.lost(this);
        }
    }
}
