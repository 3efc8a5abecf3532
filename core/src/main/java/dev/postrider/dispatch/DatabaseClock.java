package dev.postrider.dispatch;

import dev.postrider.error.PostriderException;
import dev.postrider.internal.Platform;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Estimates the time of the database from a reading of its clock and the monotonic clock of this node. The estimate is
 * never behind the database's clock, and ahead of it by the round trip of the reading at most, unless the clock of the
 * database was set since the reading. A reading counts for one lease, and is repeated when a sixth of that has passed
 * and an estimate is needed. So a node without expiring messages never reads the clock. Thread-safe.
 */
final class DatabaseClock {

    private static final Logger log = LoggerFactory.getLogger(DatabaseClock.class);

    /**
     * The most by which the two clocks of this node may differ about the age of a reading. If they differ more, the
     * computer slept or its wall clock was set, and the reading does not count.
     */
    private static final Duration LARGEST_DIFFERENCE = Duration.ofSeconds(1);

    /**
     * The time of the database now.
     *
     * @param earliest not after the database's clock
     * @param latest not before the database's clock
     */
    record Estimate(Instant earliest, Instant latest) {}

    /** The database read its clock between the two times of this node. */
    private record ClockReading(Instant time, LeaseValidity.Stamp asked, long answeredNanos) {

        boolean isValid(Platform platform, Duration atMost) {
            long monotonic = platform.nanos() - asked.nanos();
            long wall = (platform.wallMillis() - asked.wallMillis()) * 1_000_000;
            return monotonic < atMost.toNanos() && Math.abs(wall - monotonic) <= LARGEST_DIFFERENCE.toNanos();
        }

        Estimate now(Platform platform) {
            long nanos = platform.nanos();
            return new Estimate(time.plusNanos(nanos - answeredNanos), time.plusNanos(nanos - asked.nanos()));
        }
    }

    private final Supplier<Instant> database;
    private final Duration lease;
    private final Platform platform;
    private volatile @Nullable ClockReading last;

    /** @param database reads the clock of the database */
    DatabaseClock(Supplier<Instant> database, Duration lease, Platform platform) {
        this.database = database;
        this.lease = lease;
        this.platform = platform;
    }

    /** Returns an estimate from the last reading. Null if that is too old. Does not access the database. */
    @Nullable
    Estimate known() {
        ClockReading reading = last;
        return reading != null && reading.isValid(platform, lease) ? reading.now(platform) : null;
    }

    /**
     * Returns an estimate, from a new reading if the last one is a sixth of a lease old. Null if the database cannot be
     * reached.
     */
    @Nullable
    Estimate now() {
        if (!isFresh()) {
            read();
        }
        return known();
    }

    private boolean isFresh() {
        ClockReading reading = last;
        return reading != null && reading.isValid(platform, lease.dividedBy(6));
    }

    /** One thread reads; the others wait for its reading. */
    private synchronized void read() {
        if (isFresh()) {
            return;
        }
        LeaseValidity.Stamp asked = LeaseValidity.Stamp.now(platform);
        try {
            Instant time = database.get();
            last = new ClockReading(time, asked, platform.nanos());
        } catch (PostriderException e) {
            log.debug("The clock of the database could not be read; messages that may have expired wait", e);
        }
    }
}
