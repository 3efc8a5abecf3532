package dev.postrider.idempotency;

import dev.postrider.internal.store.CommandRecord;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * A cache of completed and rejected commands for many callers that retry at the same time. An entry lives for at most
 * one minute, and the total size is bounded. Every entry was committed before, and its fingerprint is part of the
 * lookup key. Thread-safe.
 */
final class CompletedCommandCache {

    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** The approximate size of a row without its result, in bytes. */
    private static final long OVERHEAD = 500;

    private record Entry(CommandRecord row, long until, long bytes) {}

    private final long limit;
    private final LongSupplier nanos;
    private final Map<SharedCall.CallKey, Entry> entries = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    CompletedCommandCache(long limit, LongSupplier nanos) {
        this.limit = limit;
        this.nanos = nanos;
    }

    synchronized Optional<CommandRecord> find(SharedCall.CallKey route) {
        Entry entry = entries.get(route);
        if (entry != null && nanos.getAsLong() - entry.until() >= 0) {
            remove(route);
            return Optional.empty();
        }
        return Optional.ofNullable(entry).map(Entry::row);
    }

    /**
     * Adds a row. This method must not throw, because the row is committed and is returned to the caller in any case.
     *
     * @param asked the time before the row was read; the remaining retention counts from it
     */
    synchronized void add(SharedCall.CallKey route, CommandRecord row, long asked) {
        Duration keyLeft = row.keyLeft();
        Duration resultLeft = row.resultLeft();
        Duration left = shorter(LONGEST, resultLeft == null ? keyLeft : shorter(keyLeft, resultLeft));
        if (left.isNegative() || left.isZero() || size(row) > limit) {
            return;
        }
        Entry entry = new Entry(row, asked + left.toNanos(), size(row));
        remove(route);
        entries.put(route, entry);
        bytes += entry.bytes();
        Iterator<Entry> eldest = entries.values().iterator();
        while (bytes > limit) {
            bytes -= eldest.next().bytes();
            eldest.remove();
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private void remove(SharedCall.CallKey route) {
        Entry removed = entries.remove(route);
        bytes -= removed == null ? 0 : removed.bytes();
    }

    private static long size(CommandRecord row) {
        CommandRecord.Ended ended = row.outcome();
        byte[] result = ended == null ? null : ended.result().bytes();
        return OVERHEAD + (result == null ? 0 : result.length);
    }
}
