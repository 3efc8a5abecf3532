package dev.postrider.checker;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** The events of each second of the run, for a chart: commits, deliveries, repeated deliveries and faults. */
final class Timeline {

    private static final long SECOND = 1_000_000;

    private Timeline() {}

    static List<String> lines(Evidence evidence) {
        History history = evidence.history;
        Ints committed = new Ints(0);
        for (int row = 0; row < history.intents.size(); row++) {
            count(committed, evidence, history.transactions.committedAt.get(history.intents.transaction.get(row)));
        }
        Ints received = new Ints(0);
        Ints again = new Ints(0);
        for (int row = 0; row < history.receipts.size(); row++) {
            count(received, evidence, history.receipts.time.get(row));
            if (history.receipts.previous.get(row) >= 0) {
                count(again, evidence, history.receipts.time.get(row));
            }
        }
        List<String> lines = new ArrayList<>();
        lines.add("second,committed,received,again,faults");
        for (int second = 0; second < Math.max(committed.size(), received.size()); second++) {
            lines.add(second + "," + committed.get(second) + "," + received.get(second) + "," + again.get(second) + ","
                    + faults(evidence, second));
        }
        return lines;
    }

    private static void count(Ints seconds, Evidence evidence, long time) {
        if (time >= evidence.run.started()) {
            int second = (int) ((time - evidence.run.started()) / SECOND);
            seconds.set(second, seconds.get(second) + 1);
        }
    }

    private static String faults(Evidence evidence, int second) {
        long begin = evidence.run.started() + second * SECOND;
        TreeSet<String> kinds = new TreeSet<>();
        evidence.history.faults.stream()
                .filter(fault -> fault.overlaps(begin, begin + SECOND - 1))
                .forEach(fault -> kinds.add(fault.kind()));
        return String.join(" ", kinds);
    }
}
