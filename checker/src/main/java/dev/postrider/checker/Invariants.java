package dev.postrider.checker;

import java.util.List;
import java.util.Set;

/** All of them. */
final class Invariants {

    static final List<Invariant> ALL = List.of(
            new NoLoss(),
            new NoPhantom(),
            new SamePayload(),
            new KeyOrder(),
            new EffectOnce(),
            new BoundedDuplicates(),
            new LegalTransitions(),
            new TokenSafety(),
            new AttemptBounds(),
            new NothingStuck(),
            new OneMessagePerKey(),
            new OneCommandResult(),
            new Fairness(),
            new Schedule(),
            new Neighbours());

    /** Without these a run says nothing. */
    static final Set<String> NEEDED = Set.of("I1", "I2", "I3", "I4", "I5", "I6", "I10", "I12");

    /** And without tables, without these. */
    static final Set<String> NEEDED_OF_JOURNALS = Set.of("I1", "I2", "I3", "I4", "I6", "I12");

    private Invariants() {}
}
