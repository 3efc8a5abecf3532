package dev.postrider.checker;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;

/**
 * No message is delivered too early: a scheduled message not before its delivery time, a retry not before its delay is over, counted
 * from the sending of the failed delivery. The delays of one attempt are spread evenly over the upper half of the longest of them.
 * The receiver and the database have the same clock.
 */
final class Schedule implements Invariant {

    /** Databases round to the microsecond, and journal lines are written slightly earlier or later. */
    private static final long TOLERANCE = 1000;

    private static final int LEAST_DELAYS = 500;

    /** The limit of a Kolmogorov-Smirnov test at one in a hundred thousand: several are made in every run. */
    private static final double CRITICAL = 2.47;

    @Override
    public String name() {
        return "I14";
    }

    @Override
    public String title() {
        return "schedule";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Findings findings = new Findings();
        long scheduled = scheduled(evidence, findings);
        long retries = retries(evidence, findings);
        String spread = spread(evidence, findings);
        return findings.verdict(
                scheduled + retries,
                "deliveries, " + scheduled + " scheduled and " + retries + " retries, were not early; " + spread);
    }

    private static long scheduled(Evidence evidence, Findings findings) {
        History history = evidence.history;
        long checked = 0;
        for (int message = 0; message < history.intents.last.size(); message++) {
            int row = evidence.written(message);
            long due = row < 0 ? 0 : history.intents.deliverAt.get(row);
            if (due > 0 && evidence.receipts().size(message) > 0) {
                int scheduled = message;
                long came = history.receipts.time.get(evidence.receipts().row(message, 0));
                findings.require(
                        came >= due - TOLERANCE,
                        () -> "message " + history.show(scheduled) + " came " + (due - came) + " us before its time");
                checked++;
            }
        }
        return checked;
    }

    private static long retries(Evidence evidence, Findings findings) {
        History history = evidence.history;
        Intervals broken = Intervals.of(history.faults, any -> true);
        long checked = 0;
        for (int row = 0; row < history.outcomes.size(); row++) {
            int message = history.outcomes.message.get(row);
            if (history.outcomes.kind(row) == Outcomes.Kind.FAILED
                    && evidence.actions(message).isEmpty()) {
                long failed = history.outcomes.time.get(row);
                long next = next(evidence, message, failed);
                long earliest = before(evidence, message, row) + history.outcomes.delay.get(row) - TOLERANCE;
                // A lost worker may not have written the retry that its journal reports.
                if (next > 0 && !broken.touch(failed - evidence.run.lease(), next)) {
                    findings.require(
                            next >= earliest,
                            () -> "message " + history.show(message) + " was sent again " + (earliest - next)
                                    + " us before its delay was over");
                    checked++;
                }
            }
        }
        return checked;
    }

    /** The time at which the failed delivery was sent; without a record of that, the time of the failure. */
    private static long before(Evidence evidence, int message, int outcome) {
        Sendings sendings = evidence.history.sendings;
        long failed = evidence.history.outcomes.time.get(outcome);
        int worker = evidence.history.outcomes.worker.get(outcome);
        return evidence.sendings()
                .rows(message)
                .filter(row -> sendings.worker.get(row) == worker && sendings.time.get(row) <= failed)
                .mapToLong(sendings.time::get)
                .max()
                .orElse(failed);
    }

    private static long next(Evidence evidence, int message, long after) {
        Sendings sendings = evidence.history.sendings;
        return evidence.sendings()
                .rows(message)
                .mapToLong(sendings.time::get)
                .filter(time -> time > after)
                .min()
                .orElse(0);
    }

    /** By topic and attempt, since each topic may have its own policy. A policy without jitter is not checked. */
    private static String spread(Evidence evidence, Findings findings) {
        History history = evidence.history;
        Map<String, Longs> delays = new TreeMap<>();
        for (int row = 0; row < history.outcomes.size(); row++) {
            int intent = history.intents.last.get(history.outcomes.message.get(row));
            if (history.outcomes.kind(row) == Outcomes.Kind.FAILED && intent >= 0) {
                String topic = history.names.get(history.intents.topic.get(intent));
                delays.computeIfAbsent(topic + " attempt " + history.outcomes.attempt.get(row), any -> new Longs(0))
                        .add(history.outcomes.delay.get(row));
            }
        }
        delays.values().removeIf(some -> some.size() < LEAST_DELAYS || isConstant(some));
        delays.forEach((what, some) -> even(what, some, findings));
        return delays.isEmpty()
                ? "too few delays by chance to say how they are spread"
                : "delays of " + delays.keySet() + " are spread evenly";
    }

    private static boolean isConstant(Longs delays) {
        return LongStream.range(0, delays.size()).allMatch(row -> delays.get((int) row) == delays.get(0));
    }

    private static void even(String what, Longs delays, Findings findings) {
        long[] sorted = new long[delays.size()];
        Arrays.setAll(sorted, delays::get);
        Arrays.sort(sorted);
        long longest = sorted[sorted.length - 1];
        long shortest = longest / 2;
        double distance = 0;
        for (int place = 0; place < sorted.length; place++) {
            double expected = (double) (sorted[place] - shortest) / Math.max(1, longest - shortest);
            distance = Math.max(distance, Math.abs(expected - (place + 0.5) / sorted.length) + 0.5 / sorted.length);
        }
        double found = distance;
        double rounded = 0.5 * step(sorted) / Math.max(1, longest - shortest);
        findings.require(
                distance <= CRITICAL / Math.sqrt(sorted.length) + rounded,
                () -> "the delays of " + what + ", from " + sorted[0] + " to " + longest
                        + " us, are not spread evenly over the upper half (" + found + ")");
    }

    /** The greatest common divisor of the delays. Each delay was rounded to it, with an error of up to half of it. */
    private static long step(long[] delays) {
        long step = 0;
        for (long delay : delays) {
            step = BigInteger.valueOf(step).gcd(BigInteger.valueOf(delay)).longValueExact();
        }
        return step;
    }
}
