package dev.postrider.checker;

import java.util.List;
import java.util.Set;

/** The list of all invariants. */
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

    /** Invariants that must have been checked; otherwise the run proves nothing. */
    static final Set<String> NEEDED = Set.of("I1", "I2", "I3", "I4", "I5", "I6", "I10", "I12");

    /** The same if only the journals are checked. */
    static final Set<String> NEEDED_OF_JOURNALS = Set.of("I1", "I2", "I3", "I4", "I6", "I12");

    private Invariants() {}
}
