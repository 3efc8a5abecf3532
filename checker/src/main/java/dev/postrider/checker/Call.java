package dev.postrider.checker;

/**
 * One call of an idempotent command.
 *
 * @param identity the number of tenant, caller, operation and key together
 * @param status what the caller was told, empty if it was told nothing
 */
record Call(int identity, String mode, String fingerprint, int call, String status, String result) {}
