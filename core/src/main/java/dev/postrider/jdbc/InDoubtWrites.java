package dev.postrider.jdbc;

import dev.postrider.store.LaneOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;

/**
 * Remembers writes that got no answer from the database, so that it is unknown whether they took effect. Claims are released later.
 * Outcomes are sent again and may turn out to be written already. Thread-safe. Bounded by the number of messages in flight.
 */
final class InDoubtWrites {

    private static final int MOST_CLAIMS = 1000;
    private static final int MOST_OUTCOMES = 100_000;

    /** A claim may take effect after its connection was aborted, while the server still runs it. So the release is repeated. */
    private static final long LOOK_EVERY_NANOS = Duration.ofMillis(500).toNanos();

    /**
     * A claim without an answer.
     *
     * @param end when the lease ends, by the monotonic clock; then there is nothing to release
     * @param nextLook when to try the next release, by the same clock
     */
    record LostClaim(int topicId, UUID token, long end, long nextLook) {}

    private final Map<UUID, LostClaim> claims = new ConcurrentHashMap<>();
    /** The revision that the lane had when the outcome was sent; 0 for messages without a lane. */
    private final Map<LeasedRow, Integer> outcomes = new ConcurrentHashMap<>();

    void claim(int topicId, UUID token, Duration lease, long now) {
        if (claims.size() < MOST_CLAIMS) {
            claims.put(token, new LostClaim(topicId, token, now + lease.toNanos(), now));
        }
    }

    /** The claims to release now. A claim stays until it is released or its lease ends. */
    List<LostClaim> claims(long now) {
        if (claims.isEmpty()) {
            return List.of();
        }
        claims.values().removeIf(lost -> now - lost.end() >= 0);
        return claims.values().stream()
                .filter(lost -> now - lost.nextLook() >= 0)
                .toList();
    }

    /** Records that a release found no message. The claim may still take effect. */
    void notFound(LostClaim lost, long now) {
        claims.replace(lost.token(), new LostClaim(lost.topicId(), lost.token(), lost.end(), now + LOOK_EVERY_NANOS));
    }

    /** Records that the messages of the claim are released. */
    void givenBack(LostClaim lost) {
        claims.remove(lost.token());
    }

    void outcomes(List<? extends LaneOutcome> sent) {
        outcomes(sent, outcome -> 0);
    }

    /** @param revision the revision of the lane, which operators raise */
    void outcomes(List<? extends LaneOutcome> sent, ToIntFunction<LaneOutcome> revision) {
        if (outcomes.size() < MOST_OUTCOMES) {
            sent.forEach(outcome -> outcomes.putIfAbsent(row(outcome), revision.applyAsInt(outcome)));
        }
    }

    /** Whether an outcome of this claim was sent before and got no answer. */
    boolean wasSent(LaneOutcome outcome) {
        return !outcomes.isEmpty() && outcomes.containsKey(row(outcome));
    }

    /**
     * Whether an outcome of this claim was sent before and got no answer, and an operator has changed the lane since. The operator may
     * have replayed the message after the outcome was written. Then the message is no longer the one that was claimed.
     */
    boolean isInDoubt(LaneOutcome outcome, int revision) {
        Integer sent = outcomes.isEmpty() ? null : outcomes.get(row(outcome));
        return sent != null && sent != revision;
    }

    /** Records that the database has answered these outcomes. */
    void answered(List<? extends LaneOutcome> sent) {
        if (!outcomes.isEmpty()) {
            sent.forEach(outcome -> outcomes.remove(row(outcome)));
        }
    }

    private static LeasedRow row(LaneOutcome outcome) {
        return new LeasedRow(outcome.claim().seq(), outcome.claim().lease().token());
    }
}
