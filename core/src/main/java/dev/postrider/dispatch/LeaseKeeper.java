package dev.postrider.dispatch;

import dev.postrider.store.Claim;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Prolongs the leases of deliveries that take long: each when a third of it is gone, so that two more tries are left. What is being
 * handled in a transaction needs no lease, since its row is locked.
 */
final class LeaseKeeper {

    /** However long the lease: the same round looks for deliveries that are overdue. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final MessageStore store;
    private final InFlight inFlight;
    private final Duration lease;
    private final Time time;

    LeaseKeeper(MessageStore store, InFlight inFlight, Duration lease, Time time) {
        this.store = store;
        this.inFlight = inFlight;
        this.lease = lease;
        this.time = time;
    }

    Duration runOnce() {
        Duration third = lease.dividedBy(3);
        List<Held> ageing = inFlight.all().stream()
                .filter(held -> held.inLane() == null)
                .filter(held -> !held.tenure().isLost()
                        && held.tenure().sinceRenewal(time).compareTo(third) >= 0)
                .filter(Held::tryKeepRow)
                .toList();
        try {
            if (!ageing.isEmpty()) {
                extend(ageing);
            }
        } finally {
            ageing.forEach(Held::leaveRow);
        }
        Duration pause = lease.dividedBy(12);
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    private void extend(List<Held> ageing) {
        Tenure.Stamp asked = Tenure.Stamp.now(time);
        Map<Claim, Held> byClaim = ageing.stream().collect(Collectors.toMap(Held::claim, Function.identity()));
        for (Settlement settlement : store.extend(List.copyOf(byClaim.keySet()), lease)) {
            Held held = byClaim.get(settlement.claim());
            if (held == null) {
                continue;
            }
            if (settlement.isLost()) {
                held.tenure().lose();
            } else if (!settlement.isLocked()) {
                held.tenure().renewed(asked);
            }
        }
    }
}
