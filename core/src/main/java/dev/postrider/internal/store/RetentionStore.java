package dev.postrider.internal.store;

import java.time.Duration;
import java.util.Optional;

/**
 * Purges rows past their retention, in small batches, so that no statement runs long. Each purge method returns the
 * number of removed rows. A number below {@code limit} means that no more rows are known to be due. A scan usually
 * starts near the end of the last one. Rows with an older time that were committed late may stay until the next full
 * scan, up to a minute later. Thread-safe, also across nodes. All methods throw
 * {@link dev.postrider.error.StoreException} when the database fails.
 */
public interface RetentionStore {

    /** Purges delivered messages, by the time of their delivery. */
    int purgeArchive(Duration age, int limit);

    /** Purges dead letters, by the time they became dead. */
    int purgeDead(Duration age, int limit);

    /**
     * Purges idempotency keys, by the time of their first use. The key of a message that still waits or is dead is
     * never purged.
     */
    int purgeKeys(Duration age, int limit);

    /** Purges the marks of the inbox, by the time of the first receipt. */
    int purgeInboxMarks(Duration age, int limit);

    /**
     * Creates the partitions of the coming days and drops the partitions past their retention, where the marks of the
     * inbox are partitioned. A partition that is in use is left for the next call.
     *
     * @param age how long marks are kept; empty means without limit
     * @return the number of dropped days
     */
    int maintainInboxPartitions(Optional<Duration> age);

    /**
     * Rebuilds the indexes of the message table, on databases that do not shrink indexes. It does so only if the
     * indexes are larger than the table and the table is small. It does nothing if the table cannot be locked at
     * once.
     *
     * @return whether the indexes were rebuilt
     */
    boolean rebuildIndexes();

    /**
     * Purges commands by their own expiry times: drops results, then removes rows, up to {@code limit} of each.
     * Commands that may have had an effect elsewhere and whose lease expired become uncertain. A command with a valid
     * lease and an uncertain command are never purged.
     */
    SweptCommands sweepCommands(int limit);
}
