package dev.postrider.torture;

/**
 * Something that will be broken. Immutable.
 *
 * @param atMillis when, from the beginning of the run
 * @param lengthMillis for how long
 * @param pick which of several it happens to, and whatever else is to be chosen; not negative
 */
record PlannedFault(FaultKind kind, int atMillis, int lengthMillis, int pick) {}
