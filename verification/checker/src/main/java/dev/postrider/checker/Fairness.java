package dev.postrider.checker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * No key of an ordered topic waits ten times longer than the median key. The wait of a message starts when it is committed and the
 * message before it in its key was accepted, and ends at its first delivery. Only quiet times count: no fault from two leases before
 * the commit on, and no lane of the topic that changed its owner. The worker must not have made an isolated delivery of the topic in
 * that time, nor one of another topic with nothing else in flight, because other messages wait for that. Keys that waited for an
 * operator are skipped. Waits of less than a lease never violate the invariant.
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
        Groups keys = Waits.keys(evidence, row -> history.intents.ordered.get(row));
        Quiet quiet = new Quiet(evidence, 2 * evidence.run.lease());
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

    /** The mean wait of the messages of a key, or -1 if none was in a quiet time or an operator had to act on the key. */
    private static long wait(Evidence evidence, Groups keys, int key, Quiet quiet) {
        History history = evidence.history;
        if (keys.rows(key).anyMatch(row -> wasParked(evidence, history.intents.message.get(row)))) {
            return -1;
        }
        Longs waits = new Longs(0);
        Waits.ofKey(evidence, keys, key, quiet, (message, wait) -> waits.add(wait));
        long sum = 0;
        for (int place = 0; place < waits.size(); place++) {
            sum += waits.get(place);
        }
        return waits.size() == 0 ? -1 : sum / waits.size();
    }

    /** Whether the message was parked. The worker may have died before it recorded that; then an operator's action shows it. */
    private static boolean wasParked(Evidence evidence, int message) {
        return evidence.has(message, Outcomes.Kind.PARKED) || evidence.was(message, "release", "skip");
    }
}
