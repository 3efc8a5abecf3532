package dev.postrider.postgresql;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The name under which the nodes of one installation find each other. Safe to be put between double quotes.
 *
 * @param name of 1 to 63 letters, digits and underscores: as much as PostgreSQL tells apart
 */
record Channel(String name) {

    private static final int LONGEST = 63;
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_]+");

    Channel {
        if (!PLAIN.matcher(name).matches() || name.length() > LONGEST) {
            throw new InvalidConfigurationException(
                    "doorbell", "has a channel that is no plain name of up to 63 letters, digits and underscores");
        }
    }

    /** A name that is too long ends with a hash of the whole. */
    static Channel named(String line) {
        if (line.length() <= LONGEST) {
            return new Channel(line);
        }
        String hash = UUID.nameUUIDFromBytes(line.getBytes(UTF_8)).toString().replace("-", "");
        return new Channel(line.substring(0, LONGEST - hash.length()) + hash);
    }
}
