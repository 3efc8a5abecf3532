package dev.postrider.store;

/** How many commands were changed: results dropped, rows removed, lost ones called uncertain. */
public record SweptCommands(int results, int removed, int uncertain) {

    public SweptCommands plus(SweptCommands other) {
        return new SweptCommands(results + other.results, removed + other.removed, uncertain + other.uncertain);
    }

    public int total() {
        return results + removed + uncertain;
    }
}
