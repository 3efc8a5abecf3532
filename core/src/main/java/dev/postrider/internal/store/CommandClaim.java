package dev.postrider.internal.store;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a caller for a command, as it is written into the row of the command. Immutable.
 *
 * @param names for operators only; the id alone identifies the command
 * @param print the fingerprint of the request
 * @param reference the reference of a new command; an existing row keeps its own
 * @param owner a token made for this claim alone, so that a claim recognizes its own row
 * @param keyTtl how long the key is kept
 * @param uncertainIfLost whether the command becomes uncertain, instead of being taken over, when its lease expires
 */
public record CommandClaim(
        CommandId id,
        Names names,
        CommandPrint print,
        UUID reference,
        UUID owner,
        Duration lease,
        Duration keyTtl,
        boolean uncertainIfLost) {

    /**
     * The names of a command for operators.
     *
     * @param keyPrefix the part of the key that operators may see
     */
    public record Names(
            String operation,
            @Nullable String tenant,
            @Nullable String caller,
            String keyPrefix) {}
}
