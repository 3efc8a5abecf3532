package dev.postrider.checker;

/**
 * A change of a command's state or owner.
 *
 * @param command the number of the command
 * @param time microseconds, as all times here
 * @param owner the owner after the change; for a removed row, its last owner
 * @param leaseEnd the end of the lease before the change, or zero
 * @param keyEnd the end of the key's retention before the change, or zero
 * @param uncertain whether the effect had begun, so that no other owner may execute it
 */
record CommandChange(
        int command, Step step, long time, int owner, long fence, long leaseEnd, long keyEnd, boolean uncertain) {}
