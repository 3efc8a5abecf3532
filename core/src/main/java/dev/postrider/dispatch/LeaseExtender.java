package dev.postrider.dispatch;

import dev.postrider.internal.Platform;
import dev.postrider.store.Claim;
import dev.postrider.store.MessageStore;
import dev.postrider.store.Settlement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Extends the leases of long deliveries. A lease is extended when a third of it is over, so that two more tries are
 * left. A message that is being handled in a transaction needs no lease, because its row is locked.
 */
final class LeaseExtender {

    /** The limit of the pause, however long the lease is: the same round also searches for overdue deliveries. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    private final MessageStore store;
    private final InFlight inFlight;
    private final Duration lease;
    private final Platform time;

    LeaseExtender(MessageStore store, InFlight inFlight, Duration lease, Platform time) {
        this.store = store;
        this.inFlight = inFlight;
        this.lease = lease;
        this.time = time;
    }

    Duration runOnce() {
        Duration third = lease.dividedBy(3);
        List<InFlightMessage> ageing = inFlight.all().stream()
                .filter(claimed -> claimed.inLane() == null)
                .filter(claimed -> !claimed.validity().isLost()
                        && claimed.validity().sinceRenewal(time).compareTo(third) >= 0)
                .filter(InFlightMessage::tryReserveRow)
                .toList();
        try {
            if (!ageing.isEmpty()) {
                extend(ageing);
            }
        } finally {
            ageing.forEach(InFlightMessage::freeRow);
        }
        Duration pause = lease.dividedBy(12);
        return pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE;
    }

    private void extend(List<InFlightMessage> ageing) {
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        Map<Claim, InFlightMessage> byClaim =
                ageing.stream().collect(Collectors.toMap(InFlightMessage::claim, Function.identity()));
        for (Settlement settlement : store.extend(List.copyOf(byClaim.keySet()), lease)) {
            InFlightMessage claimed = byClaim.get(settlement.claim());
            if (claimed == null) {
                continue;
            }
            if (settlement.isLost()) {
                claimed.validity().lose();
            } else if (!settlement.isLocked()) {
                claimed.validity().renewed(asked);
            }
        }
    }
}
