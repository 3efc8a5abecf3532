package dev.postrider.store;

import java.time.Duration;

/**
 * Removes what is past its time, a bounded chunk at a time, so that no statement runs long. Each method says how many rows it
 * removed; fewer than {@code limit} means that nothing more is past its time. Thread-safe, also over many nodes.
 */
public interface RetentionStore {

    /** Delivered messages, by the time they were delivered. */
    int purgeArchive(Duration age, int limit);

    /** Dead letters, by the time they died. */
    int purgeDead(Duration age, int limit);

    /** Idempotency keys, by the time they were first used; never one whose message is still waiting or dead. */
    int purgeKeys(Duration age, int limit);

    /**
     * Commands, by the times that each was given: drops results, then removes rows, up to so many of each; and calls those uncertain
     * whose owner was lost after something may have happened elsewhere. Never one whose owner lives, or that is uncertain.
     */
    SweptCommands sweepCommands(int limit);
}
