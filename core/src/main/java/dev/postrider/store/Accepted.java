package dev.postrider.store;

import dev.postrider.message.Message;
import java.time.Instant;
import java.util.List;

/**
 * What became of a batch of received messages; each is in exactly one of the lists, which keep the order of the batch. Immutable.
 *
 * @param fresh never seen before by this consumer: to be handled, in the transaction that marked them
 * @param duplicates seen before with the same payload, or earlier in the batch: to be dropped
 * @param collisions an id that was seen before with another payload: two messages share it, and only the first is known
 * @param tooOld so old that their marks may have been removed, which only happens with partitions: whether they were seen before
 *     cannot be told
 */
public record Accepted(List<Message> fresh, List<Known> duplicates, List<Known> collisions, List<Message> tooOld) {

    /**
     * A message whose id is known already.
     *
     * @param firstSeenAt when that was, by the database's clock
     */
    public record Known(Message message, Instant firstSeenAt) {}

    public Accepted {
        fresh = List.copyOf(fresh);
        duplicates = List.copyOf(duplicates);
        collisions = List.copyOf(collisions);
        tooOld = List.copyOf(tooOld);
    }
}
