package dev.postrider.idempotency;

import dev.postrider.internal.Platform;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Estimates the current time of the database: the last time that was read from it plus the time since. Thread-safe.
 */
final class DatabaseTime {

    private record Reading(Instant time, long nanos) {}

    private final Platform platform;
    private volatile @Nullable Reading last;

    DatabaseTime(Platform platform) {
        this.platform = platform;
    }

    void seen(Instant time) {
        last = new Reading(time, platform.nanos());
    }

    /** The estimate; the wall clock of this node until a time of the database was read. */
    Instant now() {
        Reading seen = last;
        return seen == null ? platform.now() : seen.time().plusNanos(platform.nanos() - seen.nanos());
    }
}
