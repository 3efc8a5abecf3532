package dev.postrider.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Refuses keys that are not UUIDs of version 7, and keys so old that the row of their first use may be purged: such a
 * command could run twice. Thread-safe.
 */
final class KeyAgeCheck {

    /**
     * The accepted difference between the clock of the database and the clocks of a client and of a node. A key with a
     * time in the future is accepted for longer, and a node with a slow clock accepts keys for longer. Therefore the
     * retention of rows is longer by twice this value.
     */
    static final Duration CLOCKS_MAY_DIFFER = Duration.ofMinutes(5);

    private static final Pattern VERSION_7 =
            Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}");

    private final DatabaseTime time;

    KeyAgeCheck(DatabaseTime time) {
        this.time = time;
    }

    /** @throws InvalidCommandException that names the key as the invalid part and does not contain its value */
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
                    "key", "is older than " + command.options().keyTtl() + ": its row may have been purged");
        }
        if (made.isAfter(now.plus(CLOCKS_MAY_DIFFER))) {
            throw new InvalidCommandException("key", "has a time in the future: check the clock of the client");
        }
    }
}
