package dev.postrider.checker;

import java.util.BitSet;

/**
 * Every committed message was delivered, or is visible as a dead letter. Of the messages with one idempotency key the first is
 * written and the others are not, so one of them is enough. A message that still waits at the end is not lost; another invariant
 * checks for it.
 */
final class NoLoss implements Invariant {

    @Override
    public String name() {
        return "I1";
    }

    @Override
    public String title() {
        return "no loss";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        Findings findings = new Findings();
        forgottenCommits(evidence, findings);
        BitSet wantedKeys = new BitSet();
        BitSet metKeys = new BitSet();
        long checked = 0;
        for (int message = 0; message < history.intents.last.size(); message++) {
            int row = evidence.written(message);
            if (row < 0) {
                continue;
            }
            boolean committed = evidence.isCommitted(message);
            boolean there = evidence.isDelivered(message) || evidence.isDead(message) || evidence.row(message) != null;
            int key = history.intents.dedup.get(row);
            if (key >= 0) {
                wantedKeys.set(key, wantedKeys.get(key) || committed);
                metKeys.set(key, metKeys.get(key) || there);
            } else if (committed && !there) {
                int lost = message;
                findings.add(() -> "message " + history.show(lost) + " was committed, and is neither delivered nor dead"
                        + (evidence.isArchived(lost) ? ", but archived" : ""));
            }
            checked += committed ? 1 : 0;
        }
        wantedKeys.andNot(metKeys);
        wantedKeys.stream()
                .forEach(key -> findings.add(() -> "no message with one idempotency key is there, such as "
                        + history.show(firstOf(evidence, key))));
        return findings.verdict(checked, "committed messages were delivered or are dead");
    }

    /** Transactions that the database reported as committed and that have no row. */
    private static void forgottenCommits(Evidence evidence, Findings findings) {
        Tables tables = evidence.tables;
        if (tables != null) {
            BitSet forgotten = (BitSet) evidence.history.transactions.committed.clone();
            forgotten.andNot(tables.transactions);
            forgotten.stream()
                    .forEach(transaction -> findings.add(() -> "transaction "
                            + evidence.history.transactions.ids.get(transaction) + " was committed, and left no row"));
        }
    }

    private static int firstOf(Evidence evidence, int key) {
        Intents intents = evidence.history.intents;
        int row = 0;
        while (intents.dedup.get(row) != key || !evidence.isCommitted(intents.message.get(row))) {
            row++;
        }
        return intents.message.get(row);
    }
}
