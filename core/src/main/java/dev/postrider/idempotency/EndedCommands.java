package dev.postrider.idempotency;

import dev.postrider.store.CommandRecord;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Remembers commands that have ended, and nothing else, for a short while and up to so many bytes: for those who ask again at once,
 * in crowds. What is found here was committed, and is compared with the request like any other record. Thread-safe.
 */
final class EndedCommands {

    private static final long LONGEST = Duration.ofMinutes(1).toNanos();

    /** Of a record without its result, roughly. */
    private static final long OVERHEAD = 500;

    private record Entry(CommandRecord row, long until, long bytes) {}

    private final long limit;
    private final LongSupplier nanos;
    private final Map<Flight.Route, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    EndedCommands(long limit, LongSupplier nanos) {
        this.limit = limit;
        this.nanos = nanos;
    }

    synchronized Optional<CommandRecord> find(Flight.Route route) {
        Entry entry = entries.get(route);
        if (entry != null && nanos.getAsLong() - entry.until() >= 0) {
            remove(route);
            return Optional.empty();
        }
        return Optional.ofNullable(entry).map(Entry::row);
    }

    /** @param asked when the row was asked for, from which its times are counted */
    synchronized void add(Flight.Route route, CommandRecord row, long asked) {
        Duration keyLeft = row.keyLeft();
        Duration resultLeft = row.resultLeft();
        Duration left = resultLeft == null || keyLeft.compareTo(resultLeft) < 0 ? keyLeft : resultLeft;
        Entry entry = new Entry(row, asked + Math.min(left.toNanos(), LONGEST), size(row));
        if (left.isNegative() || left.isZero() || entry.bytes() > limit) {
            return;
        }
        remove(route);
        entries.put(route, entry);
        bytes += entry.bytes();
        Iterator<Entry> eldest = entries.values().iterator();
        while (bytes > limit) {
            bytes -= eldest.next().bytes();
            eldest.remove();
        }
    }

    private void remove(Flight.Route route) {
        Entry removed = entries.remove(route);
        bytes -= removed == null ? 0 : removed.bytes();
    }

    private static long size(CommandRecord row) {
        CommandRecord.Ended ended = row.outcome();
        byte[] result = ended == null ? null : ended.result().bytes();
        return OVERHEAD + (result == null ? 0 : result.length);
    }
}
