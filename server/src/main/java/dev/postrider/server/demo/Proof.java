package dev.postrider.server.demo;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The committed orders, compared with the orders that arrived. Immutable.
 *
 * @param committed the number of orders in the database
 * @param lost committed and not arrived
 * @param phantoms arrived and not committed
 * @param rolledBack rolled back on purpose
 * @param rolledBackArrived rolled back and arrived
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

    /** Whether at least one order was committed, none was lost, and no other order arrived. */
    boolean holds() {
        return committed > 0 && lost == 0 && phantoms == 0 && rolledBackArrived == 0;
    }
}
