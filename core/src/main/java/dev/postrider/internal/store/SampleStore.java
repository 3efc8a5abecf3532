package dev.postrider.internal.store;

import dev.postrider.admin.Sample;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The sample of the database: bounded counts that one elected node takes for all. Thread-safe, also across nodes. All
 * methods throw {@link dev.postrider.error.StoreException} when the database fails.
 */
public interface SampleStore {

    /**
     * The stored sample, as one node reads it.
     *
     * @param sample empty until the first one was taken
     * @param due whether the interval of the sample has passed
     * @param databaseTime the clock of the database during the read
     * @param schemaProblem why this version of the library does not fit the tables any more; empty if it does
     */
    record Stored(Optional<Sample> sample, boolean due, Instant databaseTime, String schemaProblem) {}

    /** Reads one row. */
    Stored read();

    /**
     * Takes a sample, if it is due and this node is elected. The election is one conditional change, so one node per
     * interval is elected. If that node dies, the sample is missing until the next interval.
     *
     * @param interval the time until the next sample, at least; a slow sample makes it longer
     * @param node the name of this node, for operators
     * @return whether this node took a sample and stored it
     */
    boolean takeIfDue(Duration interval, String node);
}
