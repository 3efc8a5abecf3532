package dev.postrider.torture;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/** Counts what the receiver gets, for whoever watches; the journal is the evidence. Thread-safe. */
final class Tally {

    private static final int MOST_ROOM = 1 << 24;

    private final Set<UUID> taken;
    private final Map<Long, Integer> perSecond = new TreeMap<>();
    private long duplicates;

    /** Room for so many from the beginning: nobody is answered while it is made. */
    Tally(long messages) {
        taken = new HashSet<>((int) Math.min(2 * messages, MOST_ROOM));
    }

    /** @param accepted whether it took effect at its destination */
    synchronized void received(String id, boolean accepted) {
        perSecond.merge(Journal.now() / 1_000_000, 1, Integer::sum);
        if (accepted && !taken.add(UUID.fromString(id))) {
            duplicates++;
        }
    }

    /** How many different messages were accepted. */
    synchronized long delivered() {
        return taken.size();
    }

    /** How often one came that had been accepted before. */
    synchronized long duplicates() {
        return duplicates;
    }

    /** How many came in, by the second since the epoch. */
    synchronized Map<Long, Integer> perSecond() {
        return new TreeMap<>(perSecond);
    }
}
