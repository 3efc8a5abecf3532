package dev.postrider.jdbc;

import dev.postrider.store.Outcome;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.ToIntFunction;

/**
 * What was sent to the database and got no answer, so that it is unknown whether it took effect: claims to be given back, and
 * outcomes that may turn out to have been written when they are sent again. Thread-safe; bounded by what can be in flight.
 */
final class Unanswered {

    private static final int MOST_CLAIMS = 1000;
    private static final int MOST_OUTCOMES = 100_000;

    /** A claim may take effect after its connection was given up, while the server is still at it: looked for again. */
    private static final long LOOK_EVERY_NANOS = Duration.ofMillis(500).toNanos();

    /**
     * @param end when the lease has run out, so that there is nothing left to give back
     * @param nextLook by the same monotonic clock
     */
    record LostClaim(int topicId, UUID token, long end, long nextLook) {}

    private record Row(long seq, UUID token) {}

    private final Map<UUID, LostClaim> claims = new ConcurrentHashMap<>();
    /** By the revision that their lanes had; of messages without a lane, nothing. */
    private final Map<Row, Integer> outcomes = new ConcurrentHashMap<>();

    void claim(int topicId, UUID token, Duration lease, long now) {
        if (claims.size() < MOST_CLAIMS) {
            claims.put(token, new LostClaim(topicId, token, now + lease.toNanos(), now));
        }
    }

    /** Those to look for now. They stay until they are given back or their time is over. */
    List<LostClaim> claims(long now) {
        if (claims.isEmpty()) {
            return List.of();
        }
        claims.values().removeIf(lost -> now - lost.end() >= 0);
        return claims.values().stream()
                .filter(lost -> now - lost.nextLook() >= 0)
                .toList();
    }

    /** It was looked for and there was nothing, or not yet. */
    void notFound(LostClaim lost, long now) {
        claims.replace(lost.token(), new LostClaim(lost.topicId(), lost.token(), lost.end(), now + LOOK_EVERY_NANOS));
    }

    void givenBack(LostClaim lost) {
        claims.remove(lost.token());
    }

    void outcomes(List<? extends Outcome> sent) {
        outcomes(sent, outcome -> 0);
    }

    /** @param revision which operators raise, of the lane */
    void outcomes(List<? extends Outcome> sent, ToIntFunction<Outcome> revision) {
        if (outcomes.size() < MOST_OUTCOMES) {
            sent.forEach(outcome -> outcomes.putIfAbsent(row(outcome), revision.applyAsInt(outcome)));
        }
    }

    /** Whether an outcome for this claim was sent before without an answer. */
    boolean wasSent(Outcome outcome) {
        return !outcomes.isEmpty() && outcomes.containsKey(row(outcome));
    }

    /**
     * Whether an outcome for this claim was sent before without an answer, and an operator has changed the lane since: perhaps he
     * put the message back after it was written, and what is there now is no longer what was claimed.
     */
    boolean isInDoubt(Outcome outcome, int revision) {
        Integer sent = outcomes.isEmpty() ? null : outcomes.get(row(outcome));
        return sent != null && sent != revision;
    }

    /** Now it is known. */
    void answered(List<? extends Outcome> sent) {
        if (!outcomes.isEmpty()) {
            sent.forEach(outcome -> outcomes.remove(row(outcome)));
        }
    }

    private static Row row(Outcome outcome) {
        return new Row(outcome.claim().seq(), outcome.claim().lease().token());
    }
}
