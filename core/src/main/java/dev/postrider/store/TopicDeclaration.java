package dev.postrider.store;

import dev.postrider.message.TopicName;

/**
 * What every process that uses a topic must agree on; kept in the database. Immutable.
 *
 * @param tenantPrefixedKeys whether an idempotency key of a tenant's message must begin with {@code <tenant>/}
 */
public record TopicDeclaration(TopicName name, boolean tenantPrefixedKeys) {}
