package dev.postrider.checker;

/** Something that must be true of every run. */
interface Invariant {

    /** As in the plan: I1 to I15. */
    String name();

    /** In a few words. */
    String title();

    Verdict judge(Evidence evidence);
}
