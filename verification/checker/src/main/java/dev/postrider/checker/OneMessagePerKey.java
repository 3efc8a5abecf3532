package dev.postrider.checker;

/** Of all messages with one topic, tenant and idempotency key only one ever exists in the outbox. */
final class OneMessagePerKey implements Invariant {

    @Override
    public String name() {
        return "I11";
    }

    @Override
    public String title() {
        return "one message per idempotency key";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        Ints first = new Ints(-1);
        Findings findings = new Findings();
        long checked = 0;
        for (int message = 0; message < history.intents.last.size(); message++) {
            int row = evidence.written(message);
            int key = row < 0 ? -1 : history.intents.dedup.get(row);
            if (key >= 0) {
                checked++;
                if (evidence.existed(message)) {
                    int second = message;
                    int other = first.get(key);
                    findings.require(
                            other < 0,
                            () -> "messages " + history.show(other) + " and " + history.show(second)
                                    + " have the same idempotency key");
                    first.set(key, message);
                }
            }
        }
        return findings.verdict(checked, "committed messages with an idempotency key are one for each key");
    }
}
