package dev.postrider.internal.store;

import java.util.UUID;

/**
 * One ownership of one command. Every change of the command is conditional on its token and its fence. Immutable.
 *
 * @param token made for one claim
 * @param fence a number that rises with each new owner
 */
public record CommandOwner(CommandId id, UUID token, long fence) {}
