package dev.postrider.checker;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * After the faults the backlog drains. At the end there are only dead letters, parked messages, the blocked messages of their keys,
 * and messages with a later delivery time. Workers that stopped gracefully own no lanes.
 */
final class NothingStuck implements Invariant {

    @Override
    public String name() {
        return "I10";
    }

    @Override
    public String title() {
        return "nothing is stuck";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Tables tables = evidence.tables;
        if (tables == null) {
            return new Verdict.NotChecked("what is left is in the tables");
        }
        Findings findings = new Findings();
        Set<String> held = new HashSet<>();
        List<Row> rows = new ArrayList<>(tables.rows);
        rows.sort(Comparator.comparingLong(Row::seq));
        for (Row row : rows) {
            String key = History.together(row.topic(), row.tenant(), row.key());
            boolean waits = row.state() == State.DEAD
                    || row.state() == State.PARKED
                    || (row.state() == State.BLOCKED && held.contains(key))
                    || isAhead(row, evidence.run.ended());
            findings.require(
                    waits,
                    () -> "message " + evidence.history.show(row.message()) + " of " + row.topic() + " is still "
                            + row.state());
            if (row.state() == State.PARKED) {
                held.add(key);
            }
        }
        lanes(evidence, tables, findings);
        long committed = 0;
        for (int message = 0; message < evidence.history.intents.last.size(); message++) {
            committed += evidence.isCommitted(message) ? 1 : 0;
        }
        return findings.verdict(
                committed, "committed messages, of which " + tables.rows.size() + " are left, and none is stuck");
    }

    private static boolean isAhead(Row row, long end) {
        boolean waits = row.state() == State.PENDING || row.state() == State.SCHEDULED;
        return waits && row.attempts() == 0 && row.deliverAt() > end;
    }

    private static void lanes(Evidence evidence, Tables tables, Findings findings) {
        Map<String, Worker> last = new HashMap<>();
        evidence.history.workers.forEach(
                worker -> last.merge(worker.name(), worker, (a, b) -> a.started() > b.started() ? a : b));
        for (String owner : tables.laneOwners) {
            Worker worker = last.get(owner);
            findings.require(
                    worker == null || worker.stopped() == 0, () -> owner + " has stopped, and still owns a lane");
        }
    }
}
