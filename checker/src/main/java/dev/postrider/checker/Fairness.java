package dev.postrider.checker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * No key of an ordered topic waits much longer than the others, ten times as long as the key in the middle. A message waits from when
 * it is committed and the one before it in its key was taken, until it comes. Only times are looked at in which nothing was broken,
 * and had not been for two leases before the message was committed. Nor may a lane of the topic have changed hands meanwhile, nor the worker
 * that it came from have delivered anything alone: what nodes were lost with goes one at a time, since one of them may be to blame, and
 * everything else of that worker waits. Keys that waited for an operator are passed over, and waits of less than a lease are nothing.
 */
final class Fairness implements Invariant {

    private static final int LEAST_KEYS = 20;
    private static final int TIMES = 10;

    @Override
    public String name() {
        return "I13";
    }

    @Override
    public String title() {
        return "fairness";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        Ints addresses = new Ints(-1);
        for (int row = 0; row < history.intents.size(); row++) {
            int message = history.intents.message.get(row);
            boolean counts = history.intents.ordered.get(row)
                    && history.intents.deliverAt.get(row) == 0
                    && evidence.written(message) == row
                    && evidence.receipts().size(message) > 0;
            addresses.set(row, counts ? history.intents.address.get(row) : -1);
        }
        Groups keys = Groups.of(addresses, history.names.size());
        Quiet quiet = new Quiet(history, 2 * evidence.run.lease());
        List<Integer> counted = new ArrayList<>();
        Longs waits = new Longs(0);
        for (int key = 0; key < history.names.size(); key++) {
            long wait = wait(evidence, keys, key, quiet);
            if (wait >= 0) {
                counted.add(key);
                waits.add(wait);
            }
        }
        return counted.size() < LEAST_KEYS
                ? new Verdict.NotChecked("only " + counted.size() + " keys had messages while nothing was broken")
                : judge(evidence, counted, waits);
    }

    private static Verdict judge(Evidence evidence, List<Integer> keys, Longs waits) {
        long[] sorted = new long[waits.size()];
        Arrays.setAll(sorted, waits::get);
        Arrays.sort(sorted);
        long median = sorted[sorted.length / 2];
        long most = Math.max(TIMES * median, evidence.run.lease());
        Findings findings = new Findings();
        for (int place = 0; place < keys.size(); place++) {
            int key = keys.get(place);
            long wait = waits.get(place);
            findings.require(
                    wait <= most,
                    () -> "key " + evidence.history.names.get(key).replace('\t', '/') + " waits " + wait / 1000
                            + " ms, and the one in the middle " + median / 1000 + " ms");
        }
        return findings.verdict(keys.size(), "keys waited alike, in the middle " + median / 1000 + " ms");
    }

    /** The mean over the messages of a key, or -1 if there is none in a quiet time, or an operator had to let the key go on. */
    private static long wait(Evidence evidence, Groups keys, int key, Quiet quiet) {
        History history = evidence.history;
        if (keys.rows(key).anyMatch(row -> wasParked(evidence, history.intents.message.get(row)))) {
            return -1;
        }
        long[] inOrder = keys.rows(key)
                .mapToLong(row -> ((long) history.intents.number.get(row) << 32) | row)
                .toArray();
        Arrays.sort(inOrder);
        long sum = 0;
        long count = 0;
        long taken = 0;
        for (long place : inOrder) {
            int row = (int) place;
            int message = history.intents.message.get(row);
            int first = evidence.receipts().row(message, 0);
            long came = history.receipts.time.get(first);
            int worker = history.receipts.worker.get(first);
            long committed = history.transactions.committedAt.get(history.intents.transaction.get(row));
            long eligible = Math.max(committed, taken);
            if (committed > 0 && quiet.was(history.intents.topic.get(row), worker, committed, came)) {
                sum += Math.max(0, came - eligible);
                count++;
            }
            taken = Math.max(taken, lastTime(evidence, message));
        }
        return count == 0 ? -1 : sum / count;
    }

    /** Its worker may have died before it could say so; then an operator has had to do with it. */
    private static boolean wasParked(Evidence evidence, int message) {
        return evidence.has(message, Outcomes.Kind.PARKED) || evidence.was(message, "release", "skip");
    }

    private static long lastTime(Evidence evidence, int message) {
        int size = evidence.receipts().size(message);
        return evidence.history.receipts.time.get(evidence.receipts().row(message, size - 1));
    }

    /** When nothing was broken, no lane changed hands and nothing was delivered alone. */
    private static final class Quiet {

        private final Intervals broken;
        private final long after;
        private final Map<Integer, Intervals> lanes;
        private final Map<Integer, Intervals> solitudes;

        /** @param after for how long it is not quiet after a fault */
        Quiet(History history, long after) {
            this.broken = Intervals.of(history.faults, any -> true);
            this.after = after;
            this.lanes = byTarget(history, history.laneChanges);
            this.solitudes = byTarget(history, history.solitudes);
        }

        private static Map<Integer, Intervals> byTarget(History history, List<Fault> all) {
            Map<Integer, Intervals> byTarget = new HashMap<>();
            for (Fault one : all) {
                byTarget.computeIfAbsent(
                        history.names.of(one.target()),
                        any -> Intervals.of(all, other -> other.target().equals(one.target())));
            }
            return byTarget;
        }

        boolean was(int topic, int worker, long begin, long end) {
            return !broken.touch(begin - after, end)
                    && !touch(lanes.get(topic), begin, end)
                    && !touch(solitudes.get(worker), begin, end);
        }

        private static boolean touch(@Nullable Intervals intervals, long begin, long end) {
            return intervals != null && intervals.touch(begin, end);
        }
    }
}
