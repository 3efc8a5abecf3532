package dev.postrider.checker;

import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Replays the logged changes of every message. A claim sets a token that the row has not had, and takes a message of another owner
 * only after its lease ended. A change that only an operator may make has an operator's action, except for dead letters past their
 * retention. A message that left as delivered was accepted before.
 */
final class MessageReplay {

    private static final String PROCESSING = "PROCESSING";
    private static final Set<String> BY_OPERATORS =
            Set.of("replay", "release", "skip", "park", "bury failed", "discard", "purge", "purge archive", "retire");

    /** A change is recorded when its statement ends, which may be long after the time that the statement wrote. */
    private static final long NOTED_LATE = 1_000_000;

    private final Evidence evidence;
    private final Changes changes;
    private final Model model;
    private final Findings findings;
    private final @Nullable Step[] last;
    private final Longs since = new Longs(0);
    private final Ints tokens = new Ints(-1);

    MessageReplay(Evidence evidence, Tables tables, Model model, Findings findings) {
        this.evidence = evidence;
        this.changes = tables.changes;
        this.model = model;
        this.findings = findings;
        this.last = new Step[evidence.history.messages.size()];
    }

    void run() {
        for (int row = 0; row < changes.size(); row++) {
            int message = changes.message.get(row);
            Step step = changes.step(row);
            Supplier<String> change = () -> "message " + evidence.history.show(message) + " went, " + step.kind()
                    + ", from " + step.from() + " to " + step.to();
            begins(last[message], step, change);
            Set<String> causes = model.causes(step);
            findings.require(!causes.isEmpty(), () -> change.get() + ", which the model does not allow");
            findings.require(
                    causes.isEmpty() || !BY_OPERATORS.containsAll(causes) || wasWanted(message, causes) || isOld(row),
                    () -> change.get() + " without an operator");
            if (step.to().equals(PROCESSING)) {
                claimed(row, change);
            }
            if (step.to().equals(Step.DELIVERED)) {
                delivered(row, change);
            }
            last[message] = step;
            since.set(message, changes.time.get(row));
        }
    }

    private void begins(@Nullable Step before, Step step, Supplier<String> change) {
        String known = before == null ? Step.NONE : before.to();
        findings.require(known.equals(step.from()), () -> change.get() + ", and was " + known + " before");
    }

    private void claimed(int row, Supplier<String> change) {
        int message = changes.message.get(row);
        int token = changes.token.get(row);
        findings.require(
                token >= 0 && token != tokens.get(message), () -> change.get() + " without a token of its own");
        tokens.set(message, token);
        boolean taken = changes.step(row).from().equals(PROCESSING);
        long left = changes.leaseEnd.get(row) - changes.time.get(row);
        findings.require(!taken || left <= 0, () -> change.get() + " while its lease had " + left + " us left");
    }

    /** Copies in a durable inbox are handled and not sent, and no producer intended them. Effects commit together with the row. */
    private void delivered(int row, Supplier<String> change) {
        int message = changes.message.get(row);
        Receipts receipts = evidence.history.receipts;
        boolean known = evidence.history.intents.last.get(message) >= 0;
        findings.require(
                !known
                        || evidence.effects(message) > 0
                        || evidence.receipts()
                                .rows(message)
                                .anyMatch(receipt -> receipts.result(receipt).isTaken()
                                        && receipts.time.get(receipt) <= changes.time.get(row)),
                () -> change.get() + " before anybody had taken it");
    }

    /** Whether the change is the purge of a dead letter past its retention. */
    private boolean isOld(int row) {
        long retention = evidence.run.deadRetention();
        long age = changes.time.get(row) - since.get(changes.message.get(row));
        return retention > 0 && changes.step(row).isPurge() && age >= retention - NOTED_LATE;
    }

    /** Whether an operator's action caused it, for this message or for a whole topic. */
    private boolean wasWanted(int message, Set<String> causes) {
        return evidence.was(message, causes.toArray(String[]::new))
                || evidence.actions(-1).stream().anyMatch(action -> causes.contains(action.name()));
    }
}
