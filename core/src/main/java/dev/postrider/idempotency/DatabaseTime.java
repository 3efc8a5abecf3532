package dev.postrider.idempotency;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** About what the database's clock shows: the last time that was seen of it and what has passed since. Thread-safe. */
final class DatabaseTime {

    private record Seen(Instant time, long nanos) {}

    private volatile @Nullable Seen last;

    void seen(Instant time) {
        last = new Seen(time, System.nanoTime());
    }

    /** This machine's own time until anything was seen. */
    Instant now() {
        Seen seen = last;
        return seen == null ? Instant.now() : seen.time().plusNanos(System.nanoTime() - seen.nanos());
    }
}
