package dev.postrider.torture;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/** Counts received messages for the progress line; the journal is the evidence. Thread-safe. */
final class Tally {

    private static final int MOST_ROOM = 1 << 24;

    private final Set<UUID> taken;
    private final Map<Long, Integer> perSecond = new TreeMap<>();
    private long duplicates;

    /** @param messages the expected number of messages; allocated at once, since growing would delay answers */
    Tally(long messages) {
        taken = new HashSet<>((int) Math.min(2 * messages, MOST_ROOM));
    }

    /** @param accepted whether the message took effect at its destination */
    synchronized void received(String id, boolean accepted) {
        perSecond.merge(Journal.now() / 1_000_000, 1, Integer::sum);
        if (accepted && !taken.add(UUID.fromString(id))) {
            duplicates++;
        }
    }

    /** The number of different accepted messages. */
    synchronized long delivered() {
        return taken.size();
    }

    /** How often a message was received that had been accepted before. */
    synchronized long duplicates() {
        return duplicates;
    }

    /** Received messages, by second since the epoch. */
    synchronized Map<Long, Integer> perSecond() {
        return new TreeMap<>(perSecond);
    }
}
