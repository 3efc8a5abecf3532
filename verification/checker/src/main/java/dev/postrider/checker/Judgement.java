package dev.postrider.checker;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The verdicts on all invariants. */
record Judgement(Map<Invariant, Verdict> verdicts, Set<String> needed) {

    static Judgement of(Evidence evidence) {
        Map<Invariant, Verdict> verdicts = new LinkedHashMap<>();
        Invariants.ALL.forEach(invariant -> verdicts.put(invariant, invariant.judge(evidence)));
        return new Judgement(verdicts, evidence.tables == null ? Invariants.NEEDED_OF_JOURNALS : Invariants.NEEDED);
    }

    /** Whether no invariant is violated, and all necessary ones were checked. */
    boolean isGood() {
        return verdicts.entrySet().stream()
                .allMatch(entry -> entry.getValue() instanceof Verdict.Holds
                        || (entry.getValue() instanceof Verdict.NotChecked
                                && !needed.contains(entry.getKey().name())));
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>();
        verdicts.forEach(
                (invariant, verdict) -> lines.add(invariant.name() + " " + word(verdict) + ": " + verdict.text()));
        return lines;
    }

    List<String> table() {
        List<String> lines = new ArrayList<>();
        lines.add("| | invariant | verdict | |");
        lines.add("|---|---|---|---|");
        verdicts.forEach((invariant, verdict) -> lines.add("| " + invariant.name() + " | " + invariant.title() + " | "
                + word(verdict) + " | " + verdict.text().replace("|", "\\|") + " |"));
        return lines;
    }

    private static String word(Verdict verdict) {
        if (verdict instanceof Verdict.Holds) {
            return "holds";
        }
        return verdict instanceof Verdict.Violated ? "VIOLATED" : "not checked";
    }
}
