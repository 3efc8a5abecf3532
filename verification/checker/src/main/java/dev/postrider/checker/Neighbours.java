package dev.postrider.checker;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Topics do not disturb each other. While handlers and destinations of some topics misbehave and there is no fault, no message of
 * another topic loses its lease, none waits longer than a lease for its first delivery, and no lane of another topic changes its
 * owner. Duplicates are checked by I6. Keys on which an operator had to act are skipped.
 */
final class Neighbours implements Invariant {

    /** A fault may explain a lost lease for this many leases after its end. */
    private static final int LOST_AFTER = 3;

    /** A fault may explain a lane's change of owner for this many leases after its end: a node keeps a lane above its share for five. */
    private static final int BALANCED_AFTER = 7;

    @Override
    public String name() {
        return "I15";
    }

    @Override
    public String title() {
        return "neighbours";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Set<String> troubled = evidence.run.troubled();
        if (troubled.isEmpty()) {
            return new Verdict.NotChecked("no topic misbehaved");
        }
        Findings findings = new Findings();
        Intervals unrest = unrest(evidence.history);
        losses(evidence, troubled, unrest, findings);
        lanes(evidence, troubled, unrest, findings);
        long checked = waits(evidence, troubled, findings);
        return findings.verdict(
                checked, "messages of other topics waited less than a lease while nothing else was broken");
    }

    /** The times at which a fault was active, or a worker started or stopped. */
    private static Intervals unrest(History history) {
        List<Fault> all = new ArrayList<>(history.faults);
        for (Worker worker : history.workers) {
            for (long time : List.of(worker.started(), worker.stopping(), worker.stopped())) {
                all.add(new Fault("worker", worker.name(), time, time));
            }
        }
        return Intervals.of(all, any -> true);
    }

    /** A lane that changes its owner while the set of workers stays the same was lost. */
    private static void lanes(Evidence evidence, Set<String> troubled, Intervals unrest, Findings findings) {
        for (Fault change : evidence.history.laneChanges) {
            findings.require(
                    troubled.contains(change.target()) || isExplained(evidence, unrest, BALANCED_AFTER, change.from()),
                    () -> "lanes of " + change.target() + " changed hands while nothing else was broken");
        }
    }

    private static boolean isExplained(Evidence evidence, Intervals unrest, int leases, long time) {
        return unrest.touch(time - leases * evidence.run.lease(), time + evidence.run.lease());
    }

    private static void losses(Evidence evidence, Set<String> troubled, Intervals unrest, Findings findings) {
        History history = evidence.history;
        for (int row = 0; row < history.outcomes.size(); row++) {
            int message = history.outcomes.message.get(row);
            long time = history.outcomes.time.get(row);
            if (history.outcomes.kind(row) == Outcomes.Kind.LOST
                    && isOther(evidence, history.intents.last.get(message), troubled)
                    && evidence.actions(message).isEmpty()) {
                findings.require(
                        isExplained(evidence, unrest, LOST_AFTER, time),
                        () -> "message " + history.show(message) + " lost its lease while nothing else was broken");
            }
        }
    }

    private static long waits(Evidence evidence, Set<String> troubled, Findings findings) {
        History history = evidence.history;
        Groups keys = Waits.keys(evidence, row -> isOther(evidence, row, troubled));
        Quiet quiet = new Quiet(evidence, 2 * evidence.run.lease());
        Ints checked = new Ints(0);
        for (int key = 0; key < history.names.size(); key++) {
            if (keys.rows(key).anyMatch(row -> wasParked(evidence, history.intents.message.get(row)))) {
                continue;
            }
            Waits.ofKey(evidence, keys, key, quiet, (message, wait) -> {
                checked.add(message);
                findings.require(
                        wait <= evidence.run.lease(),
                        () -> "message " + history.show(message) + " waited " + wait / 1000 + " ms");
            });
        }
        return checked.size();
    }

    private static boolean wasParked(Evidence evidence, int message) {
        return evidence.has(message, Outcomes.Kind.PARKED) || evidence.was(message, "release", "skip");
    }

    /** Whether the intent belongs to a topic that does not misbehave. */
    private static boolean isOther(Evidence evidence, int row, Set<String> troubled) {
        History history = evidence.history;
        return row >= 0 && !troubled.contains(history.names.get(history.intents.topic.get(row)));
    }
}
