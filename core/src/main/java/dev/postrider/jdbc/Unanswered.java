package dev.postrider.jdbc;

import dev.postrider.store.Claim;
import dev.postrider.store.Outcome;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What was sent to the database and got no answer, so that it is unknown whether it took effect: claims to be given back, and
 * outcomes that may turn out to have been written when they are sent again. Thread-safe; bounded by what can be in flight.
 */
final class Unanswered {

    private static final int LIMIT = 100_000;

    record LostClaim(int topicId, UUID token) {}

    private record Row(long seq, UUID token) {}

    private final Queue<LostClaim> claims = new ConcurrentLinkedQueue<>();
    private final Set<Row> outcomes = ConcurrentHashMap.newKeySet();

    void claim(int topicId, UUID token) {
        if (claims.size() < LIMIT) {
            claims.add(new LostClaim(topicId, token));
        }
    }

    @Nullable
    LostClaim nextClaim() {
        return claims.poll();
    }

    void outcomes(List<? extends Outcome> sent) {
        if (outcomes.size() < LIMIT) {
            sent.forEach(outcome -> outcomes.add(row(outcome.claim())));
        }
    }

    /** Whether an outcome for this claim was sent before without an answer; asked once, then forgotten. */
    boolean wasSent(Claim claim) {
        return !outcomes.isEmpty() && outcomes.remove(row(claim));
    }

    private static Row row(Claim claim) {
        return new Row(claim.seq(), claim.lease().token());
    }
}
