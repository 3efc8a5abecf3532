package dev.postrider.checker;

/**
 * A change of a command's state or owner.
 *
 * @param command its number
 * @param time microseconds, as all times here
 * @param owner who has it now; for a row that was removed, who had it
 * @param leaseEnd when the lease that it had before was to end, or zero
 * @param keyEnd when the time of its key was to end before, or zero
 * @param uncertain whether its effect had begun, so that nobody else may do it
 */
record CommandChange(
        int command, Step step, long time, int owner, long fence, long leaseEnd, long keyEnd, boolean uncertain) {}
