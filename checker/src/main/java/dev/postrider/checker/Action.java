package dev.postrider.checker;

/**
 * What an operator did.
 *
 * @param message its number, or -1 if the action was not about one message
 */
record Action(long time, String name, int message, String topic) {}
