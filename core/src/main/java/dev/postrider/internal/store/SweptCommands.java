package dev.postrider.internal.store;

/**
 * The numbers of commands that a purge changed. Immutable.
 *
 * @param results the number of dropped results
 * @param removed the number of removed rows
 * @param uncertain the number of commands with a lost owner that became uncertain
 */
public record SweptCommands(int results, int removed, int uncertain) {

    /** Returns the sums of both. */
    public SweptCommands plus(SweptCommands other) {
        return new SweptCommands(results + other.results, removed + other.removed, uncertain + other.uncertain);
    }

    /** Returns the number of all changes. */
    public int total() {
        return results + removed + uncertain;
    }
}
