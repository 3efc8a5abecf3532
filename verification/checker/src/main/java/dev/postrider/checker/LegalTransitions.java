package dev.postrider.checker;

/**
 * Messages and commands change only as the model allows. The logged changes of each row are replayed: each begins where the one
 * before it ended, is in the model's list, and has its preconditions.
 */
final class LegalTransitions implements Invariant {

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
        if (tables == null || (tables.changes.size() == 0 && tables.commandChanges.isEmpty())) {
            return new Verdict.NotChecked("no changes of state were logged");
        }
        Findings findings = new Findings();
        Model model = Model.read();
        new MessageReplay(evidence, tables, model, findings).run();
        new CommandReplay(evidence, tables, model, findings).run();
        Census census = new Census(model, tables);
        return findings.verdict(census.total(), "changes of state were legal: " + census.summary());
    }
}
