package dev.postrider.checker;

import java.util.BitSet;

/** No message was delivered, stored or took effect whose transaction was rolled back, or that was rolled back to a savepoint. */
final class NoPhantom implements Invariant {

    @Override
    public String name() {
        return "I2";
    }

    @Override
    public String title() {
        return "no phantom";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        Findings findings = new Findings();
        for (int row = 0; row < history.receipts.size(); row++) {
            int message = history.receipts.message.get(row);
            findings.require(evidence.written(message) >= 0, () -> describe(evidence, message) + " was delivered");
        }
        Tables tables = evidence.tables;
        if (tables != null) {
            judge(evidence, tables, findings);
        }
        return findings.verdict(history.receipts.size(), "deliveries were of committed messages");
    }

    private static void judge(Evidence evidence, Tables tables, Findings findings) {
        History history = evidence.history;
        for (int message = 0; message < history.intents.last.size(); message++) {
            if (history.intents.last.get(message) >= 0 && evidence.written(message) < 0) {
                int phantom = message;
                findings.require(
                        evidence.row(message) == null && !evidence.isArchived(message),
                        () -> describe(evidence, phantom) + " is in the tables");
            }
        }
        for (int row = 0; row < tables.effect.size(); row++) {
            int message = tables.effect.get(row);
            findings.require(evidence.written(message) >= 0, () -> describe(evidence, message) + " took effect");
        }
        BitSet undead = (BitSet) history.transactions.rolledBack.clone();
        undead.and(tables.transactions);
        undead.stream()
                .forEach(transaction -> findings.add(() -> "transaction " + history.transactions.ids.get(transaction)
                        + " was rolled back, and left its row"));
    }

    private static String describe(Evidence evidence, int message) {
        int row = evidence.history.intents.last.get(message);
        String why = row < 0
                ? ", which no producer wrote,"
                : evidence.history.intents.kept.get(row)
                        ? ", whose transaction did not commit,"
                        : ", whose savepoint was rolled back,";
        return "message " + evidence.history.show(message) + why;
    }
}
