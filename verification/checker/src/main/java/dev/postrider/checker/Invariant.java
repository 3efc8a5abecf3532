package dev.postrider.checker;

/** A condition that must hold in every run. */
interface Invariant {

    /** The number of the invariant: I1 to I15. */
    String name();

    /** In a few words. */
    String title();

    Verdict judge(Evidence evidence);
}
