package dev.postrider.checker;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Replays the logged changes of every command. A claim or a takeover sets a new owner and the next fence, and no other change does.
 * No takeover happens before the lease has ended, or after the effect began. A completed command stays completed until the retention
 * of its key ends.
 */
final class CommandReplay {

    private static final String IN_PROGRESS = "IN_PROGRESS";
    private static final String COMPLETED = "COMPLETED";
    private static final String RESOLVE = "resolve";

    private final Evidence evidence;
    private final Tables tables;
    private final Model model;
    private final Findings findings;
    private final Map<Integer, CommandChange> last = new HashMap<>();

    CommandReplay(Evidence evidence, Tables tables, Model model, Findings findings) {
        this.evidence = evidence;
        this.tables = tables;
        this.model = model;
        this.findings = findings;
    }

    void run() {
        for (CommandChange change : tables.commandChanges) {
            replay(change, last.put(change.command(), change));
        }
    }

    private void replay(CommandChange change, @Nullable CommandChange before) {
        Step step = change.step();
        Supplier<String> text = () -> "command " + evidence.history.commandRows.get(change.command()) + " went from "
                + step.from() + " to " + step.to();
        String known = before == null ? Step.NONE : before.step().to();
        findings.require(known.equals(step.from()), () -> text.get() + ", and was " + known + " before");
        Set<String> causes = model.causes(step);
        findings.require(!causes.isEmpty(), () -> text.get() + ", which the model does not allow");
        boolean resolved = causes.contains(RESOLVE) && wasResolved();
        findings.require(resolved || !causes.equals(Set.of(RESOLVE)), () -> text.get() + " without an operator");
        boolean afresh = before == null || known.equals(Step.NONE);
        if (step.to().equals(IN_PROGRESS)) {
            claimed(change, afresh ? null : before, text);
        } else if (!resolved && before != null) {
            findings.require(
                    change.owner() == before.owner() && change.fence() == before.fence(),
                    () -> text.get() + " by another than its owner");
        }
        boolean ends = step.from().equals(COMPLETED) || (step.to().equals(Step.NONE) && !resolved);
        findings.require(
                !ends || change.keyEnd() <= change.time(), () -> text.get() + " before the time of its key was over");
    }

    private void claimed(CommandChange change, @Nullable CommandChange before, Supplier<String> text) {
        long fence = before == null ? 1 : before.fence() + 1;
        findings.require(
                change.fence() == fence,
                () -> text.get() + " with the fence " + change.fence() + " instead of " + fence);
        findings.require(
                before == null || change.owner() != before.owner(), () -> text.get() + " with the owner that it had");
        if (change.step().from().equals(IN_PROGRESS)) {
            long left = change.leaseEnd() - change.time();
            findings.require(left <= 0, () -> text.get() + " while its lease had " + left + " us left");
            findings.require(!change.uncertain(), () -> text.get() + " though its effect had begun");
        }
    }

    private boolean wasResolved() {
        return evidence.history.actions.stream()
                .anyMatch(action -> action.name().equals(RESOLVE));
    }
}
