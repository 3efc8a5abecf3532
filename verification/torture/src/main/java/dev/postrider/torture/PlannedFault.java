package dev.postrider.torture;

/**
 * A scheduled fault. Immutable.
 *
 * @param atMillis the start, from the beginning of the run
 * @param lengthMillis the duration
 * @param pick selects the target and other choices; not negative
 */
record PlannedFault(FaultKind kind, int atMillis, int lengthMillis, int pick) {}
