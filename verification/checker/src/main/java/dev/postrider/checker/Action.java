package dev.postrider.checker;

/**
 * An action of an operator.
 *
 * @param message the number of the message, or -1 if the action was not about one message
 */
record Action(long time, String name, int message, String topic) {}
