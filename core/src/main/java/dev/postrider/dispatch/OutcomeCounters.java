package dev.postrider.dispatch;

import dev.postrider.event.Event;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;

/** Counts the outcomes of messages. Thread-safe. */
final class OutcomeCounters {

    /** The kinds of outcomes that are counted together. */
    enum Counted {
        DELIVERED,
        FAILED,
        BURIED,
        PARKED,
        EXPIRED,
        BLOCKED,
        RELEASED,
        LOST
    }

    private final Map<Counted, Long> counts = new EnumMap<>(Counted.class);

    synchronized void count(Counted counted) {
        counts.merge(counted, 1L, Long::sum);
    }

    private synchronized long get(Counted counted) {
        return counts.getOrDefault(counted, 0L);
    }

    private synchronized void add(OutcomeCounters copy) {
        copy.counts.forEach((counted, count) -> counts.merge(counted, count, Long::sum));
    }

    synchronized OutcomeCounters copy() {
        OutcomeCounters copy = new OutcomeCounters();
        copy.add(this);
        return copy;
    }

    /** The sum of both counters. */
    static OutcomeCounters sum(OutcomeCounters one, OutcomeCounters other) {
        OutcomeCounters sum = one.copy();
        sum.add(other.copy());
        return sum;
    }

    private long since(OutcomeCounters before, Counted counted) {
        return get(counted) - before.get(counted);
    }

    synchronized Event.Settled since(OutcomeCounters before) {
        return new Event.Settled(
                (int) since(before, Counted.DELIVERED),
                (int) since(before, Counted.FAILED),
                (int) since(before, Counted.BURIED),
                (int) since(before, Counted.PARKED),
                (int) since(before, Counted.EXPIRED),
                (int) since(before, Counted.RELEASED),
                (int) since(before, Counted.LOST));
    }

    synchronized Event.Summary summary(OutcomeCounters before, int inFlight, Duration period) {
        return new Event.Summary(
                since(before, Counted.DELIVERED),
                since(before, Counted.FAILED),
                since(before, Counted.BURIED),
                since(before, Counted.PARKED),
                since(before, Counted.EXPIRED),
                since(before, Counted.LOST),
                inFlight,
                period);
    }

    synchronized long attempts() {
        return total() - get(Counted.RELEASED) - get(Counted.BLOCKED) - get(Counted.EXPIRED);
    }

    synchronized long total() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }
}
