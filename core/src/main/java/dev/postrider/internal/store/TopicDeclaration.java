package dev.postrider.internal.store;

import dev.postrider.message.TopicName;

/**
 * The properties of a topic that are stored in the database and must be equal in all processes. Immutable.
 *
 * @param lanes the number of lanes of an ordered topic, fixed for the lifetime of the topic; 0 for an unordered topic
 * @param tenantPrefixedKeys whether the idempotency key of a tenant's message must start with {@code <tenant>/}
 */
public record TopicDeclaration(TopicName name, int lanes, boolean tenantPrefixedKeys) {

    /** Returns whether the topic is ordered. */
    public boolean isOrdered() {
        return lanes > 0;
    }
}
