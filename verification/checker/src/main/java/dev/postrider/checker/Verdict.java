package dev.postrider.checker;

/** The verdict on an invariant. */
sealed interface Verdict {

    String text();

    /** @param checked the number of checked messages, calls or other items */
    record Holds(long checked, String text) implements Verdict {}

    record Violated(long times, String text) implements Verdict {}

    record NotChecked(String text) implements Verdict {}
}
