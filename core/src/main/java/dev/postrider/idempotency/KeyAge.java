package dev.postrider.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Refuses keys that are not UUIDs of version 7, or whose own time is so long ago that the record of their first use may be gone: run
 * again they might be run twice. Thread-safe.
 */
final class KeyAge {

    /**
     * How far the clock of whoever makes keys, and that of a node, may be off the database's. A key from the future is accepted for
     * longer than one of now, and a node whose clock is slow accepts keys for longer: records are kept longer by both.
     */
    static final Duration CLOCKS_MAY_DIFFER = Duration.ofMinutes(5);

    private static final Pattern VERSION_7 =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}");

    private final DatabaseTime time;

    KeyAge(DatabaseTime time) {
        this.time = time;
    }

    /** @throws InvalidCommandException naming the key, but not quoting it */
    void check(Command<?> command) {
        if (!command.options().onlyRecentUuidV7Keys()) {
            return;
        }
        String key = command.identity().key();
        if (!VERSION_7.matcher(key).matches()) {
            throw new InvalidCommandException("key", "must be a UUID of version 7 (RFC 9562)");
        }
        Instant made = Instant.ofEpochMilli(UUID.fromString(key).getMostSignificantBits() >>> 16);
        Instant now = time.now();
        if (made.isBefore(now.minus(command.options().keyTtl()))) {
            throw new InvalidCommandException(
                    "key", "is older than " + command.options().keyTtl() + ": it may have been used and forgotten");
        }
        if (made.isAfter(now.plus(CLOCKS_MAY_DIFFER))) {
            throw new InvalidCommandException("key", "is from the future: check the clock of whoever made it");
        }
    }
}
