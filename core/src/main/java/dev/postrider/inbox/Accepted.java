package dev.postrider.inbox;

import dev.postrider.message.Message;
import java.time.Instant;
import java.util.List;

/**
 * The result of receiving a batch of messages. Each message is in exactly one list. The lists keep the order of the
 * batch. Immutable.
 *
 * @param fresh messages that are new to this consumer. They must be handled in the transaction that marked them
 * @param duplicates messages that were received before with the same payload, or that appear earlier in the batch.
 *     Drop them
 * @param collisions messages whose id was received before with another payload. Two messages share the id, and only
 *     the first one is known
 * @param tooOld messages whose marks may have been removed already, so a duplicate cannot be detected. This happens
 *     only with partitions
 */
public record Accepted(List<Message> fresh, List<Known> duplicates, List<Known> collisions, List<Message> tooOld) {

    /**
     * A message whose id was received before.
     *
     * @param firstSeenAt when the id was first received, by the clock of the database
     */
    public record Known(Message message, Instant firstSeenAt) {}

    public Accepted {
        fresh = List.copyOf(fresh);
        duplicates = List.copyOf(duplicates);
        collisions = List.copyOf(collisions);
        tooOld = List.copyOf(tooOld);
    }
}
