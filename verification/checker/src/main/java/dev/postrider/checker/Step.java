package dev.postrider.checker;

/**
 * A change of state as the model lists it.
 *
 * @param kind the kind of row: leased, laned or command
 * @param from {@code NONE} before the row existed
 * @param to {@code DELIVERED} if it moved to the archive, {@code GONE} if it was removed; {@code NONE} for a removed command
 */
record Step(String kind, String from, String to) {

    static final String COMMAND = "command";
    static final String NONE = "NONE";
    static final String GONE = "GONE";
    static final String DELIVERED = "DELIVERED";

    /** Whether it removes a dead letter for good, by an operator or at the end of its retention. */
    boolean isPurge() {
        return from.equals("DEAD") && to.equals(GONE);
    }

    @Override
    public String toString() {
        return kind + " " + from + " to " + to;
    }
}
