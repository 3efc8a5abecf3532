package dev.postrider.checker;

/**
 * One call of an idempotent command.
 *
 * @param identity the number of tenant, caller, operation and key together
 * @param status the status that the caller got; empty if it got none
 */
record Call(int identity, String mode, String fingerprint, int call, String status, String result) {}
