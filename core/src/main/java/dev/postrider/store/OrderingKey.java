package dev.postrider.store;

import dev.postrider.message.Message;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What messages of an ordered topic are ordered by: the key, within its tenant. Immutable.
 *
 * @param tenant null for messages without one
 */
public record OrderingKey(@Nullable String tenant, String key) {

    /** The key of a message of an ordered topic, which always has one. */
    public static OrderingKey of(Message message) {
        return new OrderingKey(message.tenant(), Objects.requireNonNull(message.key()));
    }
}
