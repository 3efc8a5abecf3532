package dev.postrider.internal.event;

import dev.postrider.internal.Platform;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Decides which failures have a line of their own, and counts the others. Failures are alike when they have the same
 * kind, topic or operation, and fingerprint. In each interval the first of them has a line, or the first few. The number
 * of fingerprints is limited; failures beyond it are counted together. No failure is left out: each one has a line, or is
 * in one {@link CountedFailures}. Thread-safe.
 */
final class FailureLimiter {

    static final Duration INTERVAL = Duration.ofMinutes(1);

    static final int MOST_FINGERPRINTS = 200;

    /** What failures that are alike have in common. */
    record Alike(FailureKind kind, String subject, String fingerprint) {}

    /**
     * Failures without a line of their own.
     *
     * @param error the error of the first failure that is like them
     */
    record CountedFailures(Alike alike, String error, long count) {}

    /** Whether a failure has a line of its own. */
    enum LogLine {
        /** It has a line, and no failure like it came before. */
        FIRST,
        /** It has a line. */
        ANOTHER,
        /** It is counted. */
        NONE
    }

    /** @param counted what to log before the line, because a new interval begins */
    record LimitDecision(LogLine line, List<CountedFailures> counted) {}

    private static final class SeenFailure {
        private final String error;
        private long intervalStart;
        private long last;
        private int lines = 1;
        private long count;

        SeenFailure(String error, long now) {
            this.error = error;
            this.intervalStart = now;
            this.last = now;
        }
    }

    private final Platform time;

    // Guarded by the lock of this object

    /** The failure that was last seen comes last. */
    private final Map<Alike, SeenFailure> seen = new LinkedHashMap<>(16, 0.75f, true);

    /** Failures beyond the limit of fingerprints. */
    private final Map<FailureKind, Long> others = new EnumMap<>(FailureKind.class);

    private long firstCountedAt;

    /** Whether a failure is counted and not logged yet. Read without the lock. */
    private volatile boolean hasCounted;

    FailureLimiter(Platform time) {
        this.time = time;
    }

    /** @param error is kept for the line of the counted failures */
    synchronized LimitDecision decide(Alike alike, String error) {
        long now = time.nanos();
        SeenFailure before = seen.get(alike);
        if (before == null) {
            return decideFirst(alike, error, now);
        }
        before.last = now;
        List<CountedFailures> counted = List.of();
        if (isOver(before.intervalStart, now)) {
            counted = take(alike, before);
            before.intervalStart = now;
            before.lines = 0;
        }
        if (before.lines < alike.kind().lines) {
            before.lines++;
            return new LimitDecision(LogLine.ANOTHER, counted);
        }
        before.count++;
        countedAt(now);
        return new LimitDecision(LogLine.NONE, counted);
    }

    private LimitDecision decideFirst(Alike alike, String error, long now) {
        List<CountedFailures> counted = seen.size() < MOST_FINGERPRINTS ? List.of() : removeOldest(now);
        if (seen.size() < MOST_FINGERPRINTS) {
            seen.put(alike, new SeenFailure(error, now));
            return new LimitDecision(LogLine.FIRST, counted);
        }
        others.merge(alike.kind(), 1L, Long::sum);
        countedAt(now);
        return new LimitDecision(LogLine.NONE, counted);
    }

    /** Removes the failure that was not seen for the longest time, unless that is less than an interval. */
    private List<CountedFailures> removeOldest(long now) {
        Iterator<Map.Entry<Alike, SeenFailure>> oldestFirst = seen.entrySet().iterator();
        Map.Entry<Alike, SeenFailure> oldest = oldestFirst.next();
        if (!isOver(oldest.getValue().last, now)) {
            return List.of();
        }
        List<CountedFailures> counted = take(oldest.getKey(), oldest.getValue());
        oldestFirst.remove();
        return counted;
    }

    private static boolean isOver(long intervalStart, long now) {
        return now - intervalStart >= INTERVAL.toNanos();
    }

    private void countedAt(long now) {
        if (!hasCounted) {
            firstCountedAt = now;
            hasCounted = true;
        }
    }

    private static List<CountedFailures> take(Alike alike, SeenFailure seen) {
        long count = seen.count;
        seen.count = 0;
        return count == 0 ? List.of() : List.of(new CountedFailures(alike, seen.error, count));
    }

    /** Returns the counted failures if the first of them has waited for an interval. Cheap when there are none. */
    List<CountedFailures> takeDue() {
        return hasCounted ? takeIfDue() : List.of();
    }

    private synchronized List<CountedFailures> takeIfDue() {
        return hasCounted && isOver(firstCountedAt, time.nanos()) ? takeAll() : List.of();
    }

    /** Returns all counted failures, and counts from zero again. */
    synchronized List<CountedFailures> takeAll() {
        List<CountedFailures> all = new ArrayList<>();
        seen.forEach((alike, failure) -> all.addAll(take(alike, failure)));
        others.forEach((kind, count) -> all.add(new CountedFailures(new Alike(kind, "", ""), "", count)));
        others.clear();
        hasCounted = false;
        return all;
    }
}
