package dev.postrider.checker;

import java.util.Set;

/**
 * Only the owner of the newest lease writes the outcome of a message. A message is acknowledged once, under the last token of its
 * row. After a broken connection it is unknown whether an acknowledgement arrived, and a missing row counts as acknowledged; such
 * times are skipped. No lease is lost without a fault or an operator's action.
 */
final class TokenSafety implements Invariant {

    private static final Set<String> BREAK_CONNECTIONS = Set.of(
            "crash-database", "promote-standby", "terminate-session", "cut", "delay", "half-open", "swallow-commit");

    @Override
    public String name() {
        return "I8";
    }

    @Override
    public String title() {
        return "token safety";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Outcomes outcomes = evidence.history.outcomes;
        Findings findings = new Findings();
        Ints acknowledged = new Ints(0);
        Ints tokens = lastTokens(evidence);
        Intervals broken = Intervals.of(evidence.history.faults, fault -> BREAK_CONNECTIONS.contains(fault.kind()));
        long checked = 0;
        for (int row = 0; row < outcomes.size(); row++) {
            // A message of a durable inbox, whose handlers send nothing.
            if (evidence.history.intents.last.get(outcomes.message.get(row)) < 0) {
                continue;
            }
            if (outcomes.kind(row) == Outcomes.Kind.ACKNOWLEDGED) {
                if (!isDoubtful(evidence, broken, row)) {
                    acknowledged(evidence, row, acknowledged, tokens, findings);
                }
                checked++;
            } else if (outcomes.kind(row) == Outcomes.Kind.LOST) {
                lost(evidence, row, findings);
            }
        }
        return findings.verdict(checked, "acknowledgements were of the newest lease");
    }

    private static void acknowledged(Evidence evidence, int row, Ints before, Ints tokens, Findings findings) {
        History history = evidence.history;
        int message = history.outcomes.message.get(row);
        int sending = lastSending(evidence, row);
        if (sending < 0) {
            findings.add(() -> describe(evidence, row) + " acknowledged without having sent it");
            return;
        }
        before.set(message, before.get(message) + 1);
        findings.require(
                before.get(message) <= 1 + evidence.newBeginnings(message),
                () -> describe(evidence, row) + " acknowledged when it had been acknowledged");
        int token = history.sendings.token.get(sending);
        int last = tokens.get(message);
        findings.require(
                last < 0 || token < 0 || token == last || evidence.newBeginnings(message) > 0,
                () -> describe(evidence, row) + " acknowledged under a lease that was not the last");
    }

    /** The token of each row when it left the table. Only rows of unordered topics have one. */
    private static Ints lastTokens(Evidence evidence) {
        Ints last = new Ints(-1);
        Changes changes = evidence.tables == null ? new Changes() : evidence.tables.changes;
        for (int row = 0; row < changes.size(); row++) {
            if (changes.step(row).to().equals(Step.DELIVERED)) {
                last.set(changes.message.get(row), changes.token.get(row));
            }
        }
        return last;
    }

    /** The last sending by the same process before the outcome, or -1. */
    private static int lastSending(Evidence evidence, int outcome) {
        History history = evidence.history;
        int last = -1;
        Groups sendings = evidence.sendings();
        int message = history.outcomes.message.get(outcome);
        for (int place = 0; place < sendings.size(message); place++) {
            int row = sendings.row(message, place);
            if (history.sendings.worker.get(row) == history.outcomes.worker.get(outcome)
                    && history.sendings.time.get(row) <= history.outcomes.time.get(outcome)) {
                last = row;
            }
        }
        return last;
    }

    private static boolean isDoubtful(Evidence evidence, Intervals broken, int outcome) {
        int sending = lastSending(evidence, outcome);
        return sending >= 0
                && broken.touch(
                        evidence.history.sendings.time.get(sending), evidence.history.outcomes.time.get(outcome));
    }

    private static void lost(Evidence evidence, int row, Findings findings) {
        long time = evidence.history.outcomes.time.get(row);
        long begin = time - 3 * evidence.run.lease();
        boolean acted = evidence.history.actions.stream()
                .anyMatch(action -> action.time() >= begin && action.time() <= time + evidence.run.lease());
        findings.require(
                acted || evidence.history.faults.stream().anyMatch(fault -> fault.overlaps(begin, time)),
                () -> describe(evidence, row) + " lost while nothing was broken");
    }

    private static String describe(Evidence evidence, int row) {
        Outcomes outcomes = evidence.history.outcomes;
        return "message " + evidence.history.show(outcomes.message.get(row)) + " was, by "
                + evidence.history.workers.get(outcomes.worker.get(row)).file() + ",";
    }
}
