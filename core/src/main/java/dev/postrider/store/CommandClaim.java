package dev.postrider.store;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What somebody who wants to run a command writes into its row. Immutable.
 *
 * @param names for operators only: the id decides
 * @param reference of a command that is new; one that is there keeps its own
 * @param owner made for this claim alone, so that whoever finds it in the row knows that it was he
 * @param uncertainIfLost whether nobody may take it over when the lease has run out
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

    /** @param keyPrefix so much of the key as an operator may see */
    public record Names(
            String operation,
            @Nullable String tenant,
            @Nullable String caller,
            String keyPrefix) {}
}
