package dev.postrider.idempotency;

import dev.postrider.store.CommandRecord;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** What somebody who wants to run a command learns from its row. */
sealed interface Verdict {

    /** It is the caller's, to be run now. */
    record Mine(CommandRecord row) implements Verdict {}

    /** It has ended, and the request was the same. */
    record Ended(CommandRecord row) implements Verdict {}

    /**
     * Somebody is at it.
     *
     * @param reference null when it is in a transaction that nobody can look into
     */
    record Busy(@Nullable UUID reference, Duration leaseLeft) implements Verdict {}

    /** The key was used for another request. */
    record Other() implements Verdict {}

    /** Nobody knows whether it happened. */
    record Unknown(UUID reference) implements Verdict {}
}
