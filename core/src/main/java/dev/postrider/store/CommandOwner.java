package dev.postrider.store;

import java.util.UUID;

/** One ownership of one command: every change is conditional on it. Immutable. */
public record CommandOwner(CommandId id, UUID token, long fence) {}
