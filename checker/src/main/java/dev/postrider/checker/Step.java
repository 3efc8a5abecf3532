package dev.postrider.checker;

/**
 * A change of state as the model lists it.
 *
 * @param kind of row: leased, laned or command
 * @param from {@code NONE} before the row was there
 * @param to {@code DELIVERED} if it left for the archive, {@code GONE} if it left for nothing; of a command, {@code NONE}
 */
record Step(String kind, String from, String to) {

    static final String COMMAND = "command";
    static final String NONE = "NONE";
    static final String GONE = "GONE";
    static final String DELIVERED = "DELIVERED";

    /** Whether it is a dead letter that left for good, by an operator or because it was old. */
    boolean isPurge() {
        return from.equals("DEAD") && to.equals(GONE);
    }

    @Override
    public String toString() {
        return kind + " " + from + " to " + to;
    }
}
