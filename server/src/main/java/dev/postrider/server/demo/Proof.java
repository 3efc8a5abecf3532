package dev.postrider.server.demo;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * What was committed, compared with what arrived. Immutable.
 *
 * @param committed the orders in the database
 * @param lost committed and not arrived
 * @param phantoms arrived and not committed
 * @param rolledBack taken back before the commit, on purpose
 * @param rolledBackArrived those of them that arrived all the same
 * @param duplicates arrivals beyond the first of each order
 */
record Proof(int committed, int lost, int phantoms, int rolledBack, int rolledBackArrived, int duplicates) {

    static Proof of(Set<UUID> committed, Set<UUID> rolledBack, Map<UUID, Integer> received) {
        return new Proof(
                committed.size(),
                without(committed, received.keySet()),
                without(received.keySet(), committed),
                rolledBack.size(),
                rolledBack.size() - without(rolledBack, received.keySet()),
                received.values().stream().mapToInt(times -> times - 1).sum());
    }

    private static int without(Set<UUID> some, Set<UUID> others) {
        Set<UUID> rest = new HashSet<>(some);
        rest.removeAll(others);
        return rest.size();
    }

    /** Nothing lost, nothing invented, and something there to be lost. */
    boolean holds() {
        return committed > 0 && lost == 0 && phantoms == 0 && rolledBackArrived == 0;
    }
}
