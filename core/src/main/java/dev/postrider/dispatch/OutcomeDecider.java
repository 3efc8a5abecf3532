package dev.postrider.dispatch;

import dev.postrider.internal.store.LaneClaim;
import dev.postrider.internal.store.NoHandlerException;
import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneOutcome;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.time.Instant;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the result of a delivery into an outcome, and applies the failure policy of a topic to outcomes in lanes. No other
 * class does this.
 */
final class OutcomeDecider {

    private static final Logger log = LoggerFactory.getLogger(OutcomeDecider.class);

    /** The limit of a delay, whatever a destination or a policy asks for. */
    private static final Duration LONGEST_DELAY = Duration.ofDays(30);

    private static final Duration FALLBACK_DELAY = Duration.ofMinutes(1);

    /** Makes up for the part of a delay that databases do not store: an expired message must not be due a moment early. */
    private static final Duration A_MICROSECOND = Duration.ofNanos(1000);

    private final DoubleSupplier chance;
    private final @Nullable DatabaseClock clock;

    /**
     * Creates a decider for outcomes of deliveries that are not made by this node's dispatcher: no message expires.
     *
     * @param chance uniform in [0, 1)
     */
    OutcomeDecider(DoubleSupplier chance) {
        this(chance, null);
    }

    /** @param clock tells which messages have expired; null for none */
    OutcomeDecider(DoubleSupplier chance, @Nullable DatabaseClock clock) {
        this.chance = chance;
        this.clock = clock;
    }

    /**
     * The outcome of a message that must not be delivered now: it has expired, or it may have and the time of the
     * database is not known. Null for a message to deliver. May read the clock of the database.
     */
    @Nullable
    Outcome insteadOfDelivery(InFlightMessage claimed) {
        Instant expiresAt = claimed.claim().message().expiresAt();
        if (expiresAt == null || clock == null) {
            return null;
        }
        DatabaseClock.Estimate now = clock.now();
        if (now == null) {
            return new Outcome.Released(claimed.claim());
        }
        return now.latest().isBefore(expiresAt) ? null : expired(claimed);
    }

    /** Whether the message has expired, as far as this node knows without access to the database. */
    boolean isKnownExpired(InFlightMessage claimed) {
        Instant expiresAt = claimed.claim().message().expiresAt();
        DatabaseClock.Estimate now = expiresAt == null || clock == null ? null : clock.known();
        return now != null && !now.latest().isBefore(expiresAt);
    }

    /** The outcome of an expired message, by the policy of its topic. */
    static Outcome expired(InFlightMessage claimed) {
        return new Outcome.Expired(claimed.claim(), claimed.topic().onExpiry() == ExpiryPolicy.REMOVE);
    }

    Outcome on(InFlightMessage claimed, @Nullable DeliveryResult result) {
        return on(claimed.topic(), claimed.claim(), result);
    }

    /** The outcome of a message whose consumer still has no handler. A retry is useless until a handler is declared. */
    static Outcome unhandled(InFlightMessage claimed, NoHandlerException none) {
        return new Outcome.Buried(claimed.claim(), DeadReason.NO_HANDLER, ThrowableClassifier.text(none));
    }

    /**
     * The outcome of a message in its lane, by the failure policy of the topic. A message outside the order has no other
     * messages behind it. An unreadable message is parked as a rejected one is: another node, or this one with other
     * settings, may be able to deliver it.
     */
    static LaneOutcome inLane(Topic topic, LaneClaim claim, Outcome outcome) {
        boolean outOfOrder = claim.place() == LaneClaim.Place.OUT_OF_ORDER;
        FailurePolicy policy = outOfOrder ? FailurePolicy.CONTINUE : topic.onFailure();
        if (outcome instanceof Outcome.Retry retry) {
            return switch (policy) {
                case BLOCK -> retry;
                case CONTINUE ->
                    new LaneOutcome.RetryOutOfOrder(retry.claim(), retry.delay(), retry.error(), retry.took());
                case PARK -> new LaneOutcome.Parked(retry.claim(), DeadReason.FAILED, retry.error(), retry.took());
            };
        }
        if (outcome instanceof Outcome.Buried buried
                && policy != FailurePolicy.CONTINUE
                && topic.blocksAfterDeadLetter()) {
            return new LaneOutcome.Parked(buried.claim(), buried.reason(), buried.error(), buried.took());
        }
        return outcome;
    }

    /** The outcome of a message whose row this node cannot read. */
    static Outcome unreadable(InFlightMessage claimed, String problem) {
        return new Outcome.Buried(claimed.claim(), DeadReason.UNREADABLE, problem);
    }

    /** The outcome of a message whose topic lowered its limit of attempts after the last attempt. */
    static Outcome exhausted(InFlightMessage claimed) {
        return new Outcome.Buried(
                claimed.claim(),
                DeadReason.ATTEMPTS_EXHAUSTED,
                "All of " + claimed.topic().maxAttempts() + " attempts were made before");
    }

    /** The outcome of a failed delivery, by the retry policy and the limit of attempts of its topic. */
    Outcome failed(Topic topic, Claim claim, String error) {
        return failed(topic, claim, error, null);
    }

    Outcome on(Topic topic, Claim claim, @Nullable DeliveryResult result) {
        if (result instanceof DeliveryResult.Delivered) {
            return new Outcome.Delivered(claim);
        }
        if (result instanceof DeliveryResult.Rejected rejected) {
            return new Outcome.Buried(claim, DeadReason.REJECTED, orUnknown(rejected.error()));
        }
        Duration retryAfter = result instanceof DeliveryResult.Failed failed ? failed.retryAfter() : null;
        return failed(topic, claim, error(result), retryAfter);
    }

    /** The error text of a result that is neither delivered nor rejected. */
    static String error(@Nullable DeliveryResult result) {
        return result instanceof DeliveryResult.Failed failed
                ? orUnknown(failed.error())
                : "The transport gave no answer";
    }

    /** A transport that returns null for the error must not cost the message its outcome. */
    private static String orUnknown(@Nullable String error) {
        return error == null ? "The transport gave no reason" : error;
    }

    private Outcome failed(Topic topic, Claim claim, String error, @Nullable Duration retryAfter) {
        return claim.attempt() >= topic.maxAttempts()
                ? new Outcome.Buried(claim, DeadReason.ATTEMPTS_EXHAUSTED, error)
                : new Outcome.Retry(claim, delay(topic, claim, retryAfter), error);
    }

    private Duration delay(Topic topic, Claim claim, @Nullable Duration retryAfter) {
        Duration delay = byPolicy(topic, claim);
        if (retryAfter != null && retryAfter.compareTo(delay) > 0) {
            delay = retryAfter;
        }
        return untilExpiry(claim, delay.compareTo(LONGEST_DELAY) > 0 ? LONGEST_DELAY : delay);
    }

    /** A message that expires before its next attempt is due when it expires: so it ends then, and its key goes on. */
    private Duration untilExpiry(Claim claim, Duration delay) {
        Instant expiresAt = claim.message().expiresAt();
        DatabaseClock.Estimate now = expiresAt == null || clock == null ? null : clock.known();
        if (now == null) {
            return delay;
        }
        Duration left = Duration.between(now.earliest(), expiresAt).plus(A_MICROSECOND);
        return left.compareTo(delay) >= 0 ? delay : left.isNegative() ? Duration.ZERO : left;
    }

    /** The delay of the retry policy. A policy that fails must not cost the message its outcome either. */
    private Duration byPolicy(Topic topic, Claim claim) {
        try {
            Duration delay = topic.retryPolicy().delay(claim.attempt(), chance.getAsDouble());
            if (delay != null && !delay.isNegative()) {
                return delay;
            }
            log.warn("The retry policy of topic {} answered {}: waiting {}", topic.name(), delay, FALLBACK_DELAY);
        } catch (Throwable e) {
            log.warn("The retry policy of topic {} failed: waiting {}", topic.name(), FALLBACK_DELAY, e);
        }
        return FALLBACK_DELAY;
    }
}
