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
 * left. A message that is being handled in a transaction needs no lease, because its row is locked. While another
 * session has locked the row of a message, its lease cannot be extended. When such a lease is about to end or has
 * ended, the extension is tried again and again, so that it comes before the claim of another node when the lock ends.
 */
final class LeaseExtender {

    /** The limit of the pause, however long the lease is: the same round also searches for overdue deliveries. */
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);

    /** The pause while a lease that is about to end or has ended cannot be extended because its row is locked. */
    private static final Duration LOCKED_PAUSE = Duration.ofMillis(20);

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
        boolean isUrgent = false;
        try {
            if (!ageing.isEmpty()) {
                isUrgent = extend(ageing);
            }
        } finally {
            ageing.forEach(InFlightMessage::freeRow);
        }
        Duration pause = lease.dividedBy(12);
        return shorter(pause, isUrgent ? LOCKED_PAUSE : LONGEST_PAUSE);
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** @return whether the row of a message whose lease is about to end or has ended is locked */
    private boolean extend(List<InFlightMessage> ageing) {
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(time);
        Map<Claim, InFlightMessage> byClaim =
                ageing.stream().collect(Collectors.toMap(InFlightMessage::claim, Function.identity()));
        boolean isUrgent = false;
        for (Settlement settlement : store.extend(List.copyOf(byClaim.keySet()), lease)) {
            InFlightMessage claimed = byClaim.get(settlement.claim());
            if (claimed == null) {
                continue;
            }
            if (settlement.isLost()) {
                claimed.validity().lose();
            } else if (settlement.isLocked()) {
                isUrgent |= isAboutToEnd(claimed);
            } else {
                claimed.validity().renewed(asked);
            }
        }
        return isUrgent;
    }

    private boolean isAboutToEnd(InFlightMessage claimed) {
        return claimed.validity()
                        .sinceRenewal(time)
                        .compareTo(lease.multipliedBy(2).dividedBy(3))
                >= 0;
    }
}
