package dev.postrider.dispatch;

import dev.postrider.store.Claim;
import dev.postrider.store.DeadReason;
import dev.postrider.store.LaneClaim;
import dev.postrider.store.Outcome;
import dev.postrider.transport.DeliveryResult;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place where the result of a delivery becomes an outcome. */
final class Verdict {

    private static final Logger log = LoggerFactory.getLogger(Verdict.class);

    /** However long a destination or a policy asks for. */
    private static final Duration LONGEST_DELAY = Duration.ofDays(30);

    private static final Duration FALLBACK_DELAY = Duration.ofMinutes(1);

    private final DoubleSupplier chance;

    /** @param chance uniform in [0, 1) */
    Verdict(DoubleSupplier chance) {
        this.chance = chance;
    }

    Outcome on(Held held, @Nullable DeliveryResult result) {
        Outcome outcome = on(held.topic(), held.claim(), result);
        LaneClaim inLane = held.inLane();
        return inLane == null ? outcome : inLane(held.topic(), inLane, outcome);
    }

    /** What the failure of a message means for the others of its key; one beside the order has no others. */
    static Outcome inLane(Topic topic, LaneClaim claim, Outcome outcome) {
        boolean beside = claim.place() == LaneClaim.Place.BESIDE;
        FailurePolicy policy = beside ? FailurePolicy.SKIP : topic.onFailure();
        if (outcome instanceof Outcome.Retry retry) {
            return switch (policy) {
                case BLOCK -> retry;
                case SKIP -> new Outcome.Skipped(retry.claim(), retry.delay(), retry.error());
                case PARK -> new Outcome.Parked(retry.claim(), DeadReason.FAILED, retry.error());
            };
        }
        if (outcome instanceof Outcome.Buried buried && policy != FailurePolicy.SKIP && topic.holdsAfterDeadLetter()) {
            return new Outcome.Parked(buried.claim(), buried.reason(), buried.error());
        }
        return outcome;
    }

    /** The limit was lowered after its last attempt. */
    static Outcome exhausted(Held held) {
        Outcome buried = new Outcome.Buried(
                held.claim(),
                DeadReason.ATTEMPTS_EXHAUSTED,
                "All of " + held.topic().maxAttempts() + " attempts were made before");
        LaneClaim inLane = held.inLane();
        return inLane == null ? buried : inLane(held.topic(), inLane, buried);
    }

    /** What a topic's policy and limit make of a failed delivery. */
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

    /** What is said of a result that is neither success nor refusal. */
    static String error(@Nullable DeliveryResult result) {
        return result instanceof DeliveryResult.Failed failed
                ? orUnknown(failed.error())
                : "The transport gave no answer";
    }

    /** A transport written without null checks must not cost the message its outcome. */
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
        return delay.compareTo(LONGEST_DELAY) > 0 ? LONGEST_DELAY : delay;
    }

    /** Nor must a policy of the user's own. */
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
