package dev.postrider.checker;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Messages change their state only as the diagrams say, and each change begins where the one before it ended. What is gone stays
 * gone, and what is dead stays dead unless an operator wanted otherwise.
 */
final class LegalTransitions implements Invariant {

    private static final Map<State, Set<State>> LEGAL = new EnumMap<>(Map.of(
            State.GONE, EnumSet.of(State.PENDING, State.PROCESSING, State.SCHEDULED, State.DEAD),
            State.PENDING, EnumSet.allOf(State.class),
            State.PROCESSING, EnumSet.of(State.PROCESSING, State.PENDING, State.DEAD, State.GONE),
            State.SCHEDULED, EnumSet.of(State.SCHEDULED, State.PARKED, State.DEAD, State.GONE),
            State.RETRY, EnumSet.of(State.RETRY, State.BLOCKED, State.PARKED, State.SCHEDULED, State.DEAD, State.GONE),
            State.BLOCKED,
                    EnumSet.of(State.RETRY, State.BLOCKED, State.PARKED, State.SCHEDULED, State.DEAD, State.GONE),
            State.PARKED, EnumSet.of(State.PARKED, State.RETRY, State.DEAD, State.GONE),
            State.DEAD, EnumSet.of(State.DEAD, State.PENDING, State.RETRY, State.GONE)));

    /** Of an unordered topic: it is claimed before anything can come of it. */
    private static final Set<State> LEGAL_UNORDERED = EnumSet.of(State.PENDING, State.PROCESSING);

    @Override
    public String name() {
        return "I7";
    }

    @Override
    public String title() {
        return "legal transitions";
    }

    @Override
    public Verdict judge(Evidence evidence) {
        Tables tables = evidence.tables;
        if (tables == null || tables.changed.size() == 0) {
            return new Verdict.NotChecked("no changes of state were logged");
        }
        Findings findings = new Findings();
        State[] states = new State[evidence.history.messages.size()];
        Arrays.fill(states, State.GONE);
        for (int row = 0; row < tables.changed.size(); row++) {
            judge(evidence, tables, row, states[tables.changed.get(row)], findings);
            states[tables.changed.get(row)] = tables.to.get(row);
        }
        return findings.verdict(tables.changed.size(), "changes of state were legal");
    }

    private static void judge(Evidence evidence, Tables tables, int row, State known, Findings findings) {
        int message = tables.changed.get(row);
        State from = tables.from.get(row);
        State to = tables.to.get(row);
        Supplier<String> change =
                () -> "message " + evidence.history.show(message) + " went from " + from + " to " + to;
        findings.require(known == from, () -> change.get() + ", and was " + known + " before");
        boolean unclaimed = from == State.PENDING && isUnordered(evidence, message);
        boolean legal = unclaimed ? LEGAL_UNORDERED.contains(to) : isLegal(from, to);
        findings.require(legal, change);
        boolean revived = from == State.DEAD && (to == State.PENDING || to == State.RETRY);
        boolean removed = (from == State.DEAD || from == State.PARKED) && to == State.GONE;
        findings.require(
                !revived || wasWanted(evidence, message, "replay"), () -> change.get() + " without an operator");
        findings.require(
                !removed || wasWanted(evidence, message, "discard") || wasWanted(evidence, message, "purge"),
                () -> change.get() + " without an operator");
    }

    private static boolean isLegal(State from, State to) {
        Set<State> legal = LEGAL.get(from);
        return legal != null && legal.contains(to);
    }

    private static boolean isUnordered(Evidence evidence, int message) {
        int row = evidence.history.intents.last.get(message);
        return row >= 0 && !evidence.history.intents.ordered.get(row);
    }

    /** Of this message, or of a whole topic. */
    private static boolean wasWanted(Evidence evidence, int message, String action) {
        return evidence.was(message, action)
                || evidence.actions(-1).stream().anyMatch(any -> any.name().equals(action));
    }
}
