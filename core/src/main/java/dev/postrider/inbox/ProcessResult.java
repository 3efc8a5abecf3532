package dev.postrider.inbox;

import java.time.Instant;

/** What became of a received message. Immutable. */
public sealed interface ProcessResult {

    /** It was handled, now. */
    record Processed() implements ProcessResult {}

    /**
     * It was handled before; the work was not run.
     *
     * @param firstSeenAt when that was, by the database's clock
     */
    record AlreadyProcessed(Instant firstSeenAt) implements ProcessResult {}

    /**
     * Another message with the same id and another payload was handled before; the work was not run. Two messages share an id, which
     * is a mistake of their sender: put this one aside for people to look at.
     *
     * @param firstSeenAt when the other one was handled, by the database's clock
     */
    record Collision(Instant firstSeenAt) implements ProcessResult {}

    /**
     * It is older than the marks that are kept, so that nobody can tell whether it was handled before; the work was not run. Only
     * where marks are kept in partitions.
     */
    record TooOld() implements ProcessResult {}

    /** Whether the work was run by this call. */
    default boolean isProcessed() {
        return this instanceof Processed;
    }

    /** Whether it had been handled before this call. */
    default boolean isDuplicate() {
        return this instanceof AlreadyProcessed;
    }

    /** Whether its id belongs to another message. */
    default boolean isCollision() {
        return this instanceof Collision;
    }

    default boolean isTooOld() {
        return this instanceof TooOld;
    }

    /** Whether it has taken effect, now or before: it can be acknowledged. The others want a look first. */
    default boolean isDone() {
        return isProcessed() || isDuplicate();
    }
}
