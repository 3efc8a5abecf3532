package dev.postrider.checker;

/**
 * The start of an isolated delivery: the message was in flight on lost workers.
 *
 * @param worker the number of the worker's name
 * @param crashes how many workers were lost with the message
 */
record Isolation(int worker, int message, long time, int crashes) {

    /** From this many losses on, nothing else is in flight on the worker. Before, only the other suspects of the topic wait. */
    private static final int ALONE = 3;

    boolean isAlone() {
        return crashes >= ALONE;
    }
}
