package dev.postrider.store;

import dev.postrider.message.TopicName;

/**
 * What every process that uses a topic must agree on; kept in the database. Immutable.
 *
 * @param lanes over how many lanes an ordered topic's keys are spread, for as long as the topic lives; 0 for an unordered topic
 * @param tenantPrefixedKeys whether an idempotency key of a tenant's message must begin with {@code <tenant>/}
 */
public record TopicDeclaration(TopicName name, int lanes, boolean tenantPrefixedKeys) {

    public boolean isOrdered() {
        return lanes > 0;
    }
}
