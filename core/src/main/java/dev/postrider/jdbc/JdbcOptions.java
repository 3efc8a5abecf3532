package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the tables are and what may be put into them. Immutable; begin with {@link #defaults()}.
 *
 * @param schema the schema (on MySQL and MariaDB: the database) that holds the tables; null for the connection's own
 * @param tablePrefix what every table name begins with
 * @param maxPayloadBytes the largest payload that is accepted
 * @param stagedLimit how many messages one unit of work may stage
 * @param errorLimit how many characters of an error are kept
 * @param archive what is kept of a delivered message
 */
public record JdbcOptions(
        @Nullable String schema,
        String tablePrefix,
        int maxPayloadBytes,
        int stagedLimit,
        int errorLimit,
        Archive archive) {

    /** What is kept of a delivered message until the archive's retention is over. */
    public enum Archive {
        FULL,
        WITHOUT_PAYLOAD,
        OFF
    }

    /** The longest name made from the prefix, message_leased and the like, must fit the 63 characters of PostgreSQL. */
    private static final Pattern PREFIX = Pattern.compile("[a-z][a-z0-9_]{0,39}");

    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public JdbcOptions {
        if (schema != null && !SCHEMA.matcher(schema).matches()) {
            throw new InvalidConfigurationException(
                    "schema", "must be a plain name of letters, digits and underscores, up to 63 long");
        }
        if (tablePrefix == null || !PREFIX.matcher(tablePrefix).matches()) {
            throw new InvalidConfigurationException(
                    "table-prefix",
                    "must be a lower-case letter and up to 39 lower-case letters, digits or underscores");
        }
        range("max-payload-bytes", maxPayloadBytes, 1, 64 * 1024 * 1024);
        range("staged-limit", stagedLimit, 1, 1_000_000);
        range("error-limit", errorLimit, 20, 16_000);
    }

    public static JdbcOptions defaults() {
        return new JdbcOptions(null, "postrider_", 1024 * 1024, 10_000, 2000, Archive.FULL);
    }

    public JdbcOptions withSchema(@Nullable String schema) {
        return new JdbcOptions(schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive);
    }

    public JdbcOptions withTablePrefix(String tablePrefix) {
        return new JdbcOptions(schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive);
    }

    public JdbcOptions withMaxPayloadBytes(int maxPayloadBytes) {
        return new JdbcOptions(schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive);
    }

    public JdbcOptions withStagedLimit(int stagedLimit) {
        return new JdbcOptions(schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive);
    }

    public JdbcOptions withErrorLimit(int errorLimit) {
        return new JdbcOptions(schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive);
    }

    public JdbcOptions withArchive(Archive archive) {
        return new JdbcOptions(schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive);
    }

    private static void range(String property, int value, int min, int max) {
        if (value < min || value > max) {
            throw new InvalidConfigurationException(property, "must be " + min + " to " + max + ", but is " + value);
        }
    }
}
