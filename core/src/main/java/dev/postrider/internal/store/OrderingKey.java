package dev.postrider.internal.store;

import dev.postrider.message.Message;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The ordering key of messages of an ordered topic, within its tenant. Immutable.
 *
 * @param tenant null for messages without a tenant
 */
public record OrderingKey(@Nullable String tenant, String key) {

    /** Returns the ordering key of a message of an ordered topic. Such a message always has a key. */
    public static OrderingKey of(Message message) {
        return new OrderingKey(message.tenant(), Objects.requireNonNull(message.key()));
    }
}
