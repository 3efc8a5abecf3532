package dev.postrider.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** About what the database's clock shows: the last time that was seen of it and what has passed since. Thread-safe. */
final class DatabaseTime {

    private record Seen(Instant time, long nanos) {}

    private final Surroundings surroundings;
    private volatile @Nullable Seen last;

    DatabaseTime(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    void seen(Instant time) {
        last = new Seen(time, surroundings.nanos());
    }

    /** This machine's own time until anything was seen. */
    Instant now() {
        Seen seen = last;
        return seen == null ? surroundings.now() : seen.time().plusNanos(surroundings.nanos() - seen.nanos());
    }
}
