package dev.postrider.internal.store;

import dev.postrider.store.Claim;
import org.jspecify.annotations.Nullable;

/**
 * A claimed row. Immutable.
 *
 * @param unreadable why the row cannot be read; the message has then only the id, the topic, the tenant and the ordering key. Null for a
 *     message that can be delivered
 */
public record RowClaim(Claim claim, @Nullable String unreadable) {}
