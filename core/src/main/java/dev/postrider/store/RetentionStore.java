package dev.postrider.store;

import java.time.Duration;
import java.util.Optional;

/**
 * Removes what is past its time, a bounded chunk at a time, so that no statement runs long. Each method says how many rows it
 * removed; fewer than {@code limit} means that it is done for now. What came of age long ago and was not there to be seen then may be
 * left for a minute. Thread-safe, also over many nodes.
 */
public interface RetentionStore {

    /** Delivered messages, by the time they were delivered. */
    int purgeArchive(Duration age, int limit);

    /** Dead letters, by the time they died. */
    int purgeDead(Duration age, int limit);

    /** Idempotency keys, by the time they were first used; never one whose message is still waiting or dead. */
    int purgeKeys(Duration age, int limit);

    /** What is known of received messages, by the time they were first seen. */
    int purgeInboxMarks(Duration age, int limit);

    /**
     * Where the marks of the inbox are kept in partitions: makes those of the days to come, and drops the days whose time is over.
     * One that is in use at the moment is left for the next time.
     *
     * @param age how long marks are kept; empty for ever
     * @return how many days were dropped
     */
    int tendInboxPartitions(Optional<Duration> age);

    /**
     * Where the database does not give back what indexes once grew to: builds those of the messages anew, if they are larger than their
     * table, and that is small. Does nothing while the messages cannot be had at once.
     *
     * @return whether it did
     */
    boolean rebuildIndexes();

    /**
     * Commands, by the times that each was given: drops results, then removes rows, up to so many of each; and calls those uncertain
     * whose owner was lost after something may have happened elsewhere. Never one whose owner lives, or that is uncertain.
     */
    SweptCommands sweepCommands(int limit);
}
