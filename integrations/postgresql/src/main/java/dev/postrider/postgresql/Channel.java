package dev.postrider.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The notification channel that the nodes of one installation share. Its name is safe between double quotes.
 *
 * @param name 1 to 63 letters, digits and underscores; PostgreSQL does not distinguish longer names
 */
record Channel(String name) {

    private static final int LONGEST = 63;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_]+");

    Channel {
        if (!PLAIN.matcher(name).matches() || name.length() > LONGEST) {
            throw new InvalidConfigurationException(
                    "doorbell", "has a channel whose name is not 1 to 63 letters, digits and underscores");
        }
    }

    /** Shortens a name that is too long. The short name ends with a hash of the whole name. */
    static Channel named(String line) {
        if (line.length() <= LONGEST) {
            return new Channel(line);
        }
        String hash = UUID.nameUUIDFromBytes(line.getBytes(UTF_8)).toString().replace("-", "");
        return new Channel(line.substring(0, LONGEST - hash.length()) + hash);
    }
}
