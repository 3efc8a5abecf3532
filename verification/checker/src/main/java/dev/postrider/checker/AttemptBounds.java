package dev.postrider.checker;

import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * No message is attempted more often than allowed, and none becomes a dead letter too early. A dead letter was rejected, used all its
 * attempts, or lost its workers in a run in which workers were lost. On ordered topics a delivery that a crash interrupted does not
 * count as an attempt.
 */
final class AttemptBounds implements Invariant {

    private static final Set<String> LOSE_WORKERS = Set.of(
            "kill-worker",
            "pause-worker",
            "crash-database",
            "promote-standby",
            "half-open",
            "delay",
            "clock-skew",
            "clock-step",
            "exhaust-connections");

    /** The event that parks a message does not contain the number of attempts; the row does. */
    private static final int UNKNOWN = -1;

    @Override
    public String name() {
        return "I9";
    }

    @Override
    public String title() {
        return "attempts are bounded";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        History history = evidence.history;
        Findings findings = new Findings();
        long checked = 0;
        for (int message = 0; message < history.intents.last.size(); message++) {
            int row = evidence.written(message);
            if (row >= 0 && evidence.receipts().size(message) > 0) {
                deliveries(evidence, message, history.intents.ordered.get(row), findings);
                checked++;
            }
        }
        for (int row = 0; row < history.outcomes.size(); row++) {
            Outcomes.Kind kind = history.outcomes.kind(row);
            boolean known = history.intents.last.get(history.outcomes.message.get(row)) >= 0;
            if (known && (kind == Outcomes.Kind.BURIED || kind == Outcomes.Kind.PARKED)) {
                givenUp(
                        evidence,
                        history.outcomes.message.get(row),
                        history.names.get(history.outcomes.reason.get(row)),
                        kind == Outcomes.Kind.PARKED ? UNKNOWN : history.outcomes.attempt.get(row),
                        findings);
            }
        }
        rows(evidence, evidence.tables, findings);
        return findings.verdict(checked, "delivered messages stayed within their attempts");
    }

    private static void deliveries(Evidence evidence, int message, boolean ordered, Findings findings) {
        Receipts receipts = evidence.history.receipts;
        int most = most(evidence, message);
        findings.require(
                evidence.receipts().rows(message).allMatch(row -> receipts.attempt.get(row) <= most),
                () -> describe(evidence, message) + " was delivered with an attempt above " + most);
        int deliveries = evidence.receipts().size(message);
        findings.require(
                ordered || deliveries <= most * (1 + evidence.newBeginnings(message)),
                () -> describe(evidence, message) + " was delivered " + deliveries + " times");
    }

    private static void rows(Evidence evidence, @Nullable Tables tables, Findings findings) {
        if (tables != null) {
            for (Row row : tables.rows) {
                boolean known = evidence.history.intents.last.get(row.message()) >= 0;
                if (known && (row.state() == State.DEAD || row.state() == State.PARKED)) {
                    givenUp(evidence, row.message(), row.reason(), row.attempts(), findings);
                }
            }
        }
    }

    private static void givenUp(Evidence evidence, int message, String reason, int attempts, Findings findings) {
        if (reason.equals("WORKER_LOST")) {
            findings.require(
                    evidence.history.faults.stream().anyMatch(fault -> LOSE_WORKERS.contains(fault.kind())),
                    () -> describe(evidence, message) + " is said to have lost its workers, and none was lost");
            return;
        }
        if (reason.equals("BURIED")) {
            findings.require(
                    evidence.history.actions.stream()
                            .anyMatch(action -> action.name().equals("skip")),
                    () -> describe(evidence, message) + " has the reason BURIED, and no operator buried it");
            return;
        }
        findings.require(
                evidence.sendings().size(message) > 0,
                () -> describe(evidence, message) + " was given up (" + reason + ") without having been sent");
        if (reason.equals("ATTEMPTS_EXHAUSTED")) {
            findings.require(
                    attempts == UNKNOWN || attempts >= most(evidence, message),
                    () -> describe(evidence, message) + " was given up after " + attempts + " attempts");
        }
        if (reason.equals("REJECTED")) {
            findings.require(
                    evidence.receipts()
                            .rows(message)
                            .anyMatch(row ->
                                    !evidence.history.receipts.result(row).isTaken()),
                    () -> describe(evidence, message)
                            + " was given up as rejected, and the receiver did not reject it");
        }
    }

    private static int most(Evidence evidence, int message) {
        int row = evidence.history.intents.last.get(message);
        return evidence.run.maxAttempts(evidence.history.names.get(evidence.history.intents.topic.get(row)));
    }

    private static String describe(Evidence evidence, int message) {
        return "message " + evidence.history.show(message);
    }
}
