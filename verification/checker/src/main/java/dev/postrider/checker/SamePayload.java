package dev.postrider.checker;

/** Messages are delivered as they were written: payload, content type and headers by hash; topic, tenant, key and number by value. */
final class SamePayload implements Invariant {

    @Override
    public String name() {
        return "I3";
    }

    @Override
    public String title() {
        return "payload identity";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        Findings findings = new Findings();
        long checked = 0;
        for (int row = 0; row < history.receipts.size(); row++) {
            int message = history.receipts.message.get(row);
            if (history.intents.last.get(message) >= 0) {
                findings.require(
                        history.receipts.same.get(row),
                        () -> "message " + history.show(message) + " was delivered otherwise than it was written");
                checked++;
            }
        }
        return findings.verdict(checked, "deliveries were as they were written");
    }
}
