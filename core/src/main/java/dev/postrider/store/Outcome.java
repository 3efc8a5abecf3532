package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a claim, written under its lease. Immutable. The constructors throw
 * {@link InvalidConfigurationException} when a part is null, or when a delay is negative or longer than
 * {@link #LONGEST_DELAY}.
 */
public sealed interface Outcome {

    /** The longest delay: ten years. */
    Duration LONGEST_DELAY = Duration.ofDays(3650);

    /** Returns the claim that has this outcome. */
    Claim claim();

    /** The destination confirmed the message. It leaves the live table. */
    record Delivered(Claim claim) implements Outcome {

        public Delivered {
            require("claim", claim);
        }
    }

    /** The delivery failed. The message is retried after the delay, by the clock of the database. */
    record Retry(Claim claim, Duration delay, String error) implements Outcome {

        public Retry {
            require("claim", claim);
            checkDelay(delay);
            require("error", error);
        }
    }

    /** The message is not attempted again and becomes a dead letter. */
    record Buried(Claim claim, DeadReason reason, String error) implements Outcome {

        public Buried {
            require("claim", claim);
            require("reason", reason);
            require("error", error);
        }
    }

    /** The message was not attempted. It can be claimed immediately, and the attempt does not count. */
    record Released(Claim claim) implements Outcome {

        public Released {
            require("claim", claim);
        }
    }

    /** In a lane: the message is retried after the delay, and the later messages of its key do not wait for it. */
    record RetryOutOfOrder(Claim claim, Duration delay, String error) implements Outcome {

        public RetryOutOfOrder {
            require("claim", claim);
            checkDelay(delay);
            require("error", error);
        }
    }

    /** In a lane: the message waits for an operator, and the later messages of its key wait behind it. */
    record Parked(Claim claim, DeadReason reason, String error) implements Outcome {

        public Parked {
            require("claim", claim);
            require("reason", reason);
            require("error", error);
        }
    }

    /** In a lane: the message was not attempted because its key is blocked. It waits behind the head of the key. */
    record Blocked(Claim claim) implements Outcome {

        public Blocked {
            require("claim", claim);
        }
    }

    /**
     * The transaction that handled the message has already removed it. Nothing is written, except that in a lane its
     * key continues.
     */
    record Handled(Claim claim) implements Outcome {

        public Handled {
            require("claim", claim);
        }
    }

    /** The claim lost the message before it was handled. Nothing was done, and nothing is written. */
    record Lost(Claim claim) implements Outcome {

        public Lost {
            require("claim", claim);
        }
    }

    private static void require(String part, @Nullable Object value) {
        if (value == null) {
            throw new InvalidConfigurationException(part, "is missing: an outcome requires it");
        }
    }

    private static void checkDelay(@Nullable Duration delay) {
        if (delay == null || delay.isNegative() || delay.compareTo(LONGEST_DELAY) > 0) {
            throw new InvalidConfigurationException(
                    "delay", "must be 0 to " + LONGEST_DELAY.toDays() + " days, but is " + delay);
        }
    }
}
