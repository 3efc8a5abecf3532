package dev.postrider.inbox;

import java.time.Instant;
import java.util.function.Function;

/** The result of processing a received message. Immutable. */
public sealed interface ProcessResult {

    /** The message was handled by this call. */
    record Processed() implements ProcessResult {}

    /**
     * The message was handled before. The work was not run.
     *
     * @param firstSeenAt when the message was first received, by the clock of the database
     */
    record AlreadyProcessed(Instant firstSeenAt) implements ProcessResult {}

    /**
     * A message with the same id and another payload was handled before. The work was not run. Two messages with one
     * id are an error of their sender: keep this message for a manual check.
     *
     * @param firstSeenAt when the other message was first received, by the clock of the database
     */
    record Collision(Instant firstSeenAt) implements ProcessResult {}

    /**
     * The message is older than the kept marks, so a duplicate cannot be detected. The work was not run. This happens
     * only when marks are stored in partitions.
     */
    record TooOld() implements ProcessResult {}

    /** Returns whether this call ran the work. */
    default boolean isProcessed() {
        return this instanceof Processed;
    }

    /** Returns whether the message was handled before this call. */
    default boolean isDuplicate() {
        return this instanceof AlreadyProcessed;
    }

    /** Returns whether the id belongs to another message. */
    default boolean isCollision() {
        return this instanceof Collision;
    }

    /** Returns whether the message is older than the kept marks. */
    default boolean isTooOld() {
        return this instanceof TooOld;
    }

    /**
     * Returns whether the message has taken effect, now or before, and can be acknowledged. All other results need a
     * check first.
     */
    default boolean isDone() {
        return isProcessed() || isDuplicate();
    }

    /** Applies the function for the kind of this result, and returns its value. */
    default <T> T fold(
            Function<? super Processed, ? extends T> processed,
            Function<? super AlreadyProcessed, ? extends T> alreadyProcessed,
            Function<? super Collision, ? extends T> collision,
            Function<? super TooOld, ? extends T> tooOld) {
        if (this instanceof Processed now) {
            return processed.apply(now);
        }
        if (this instanceof AlreadyProcessed before) {
            return alreadyProcessed.apply(before);
        }
        return this instanceof Collision other ? collision.apply(other) : tooOld.apply((TooOld) this);
    }
}
