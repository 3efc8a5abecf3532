package dev.postrider.checker;

/** What is to be said of an invariant. */
sealed interface Verdict {

    String text();

    /**
     * @param checked on how many messages, or calls, or whatever it is about
     */
    record Holds(long checked, String text) implements Verdict {}

    record Violated(long times, String text) implements Verdict {}

    record NotChecked(String text) implements Verdict {}
}
