package dev.postrider.jdbc;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.jdbc.sql.Tables;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The place of the tables and the limits of their contents. Immutable; start with {@link #defaults()}.
 *
 * @param schema the schema (on MySQL and MariaDB: the database) that contains the tables; null for the schema of the connection
 * @param tablePrefix the prefix of every table name
 * @param maxPayloadBytes the largest accepted payload, in bytes
 * @param stagedLimit the most messages that one unit of work may stage
 * @param errorLimit how many characters of an error text are stored
 * @param archive which part of a delivered message the archive keeps
 */
public record JdbcOptions(
        @Nullable String schema,
        String tablePrefix,
        int maxPayloadBytes,
        int stagedLimit,
        int errorLimit,
        Archive archive) {

    /** Which part of a delivered message the archive keeps until its retention ends. */
    public enum Archive {
        FULL,
        WITHOUT_PAYLOAD,
        OFF
    }

    /** The longest name with the prefix, such as that of the index message_leased, must fit into the 63 characters of PostgreSQL. */
    private static final Pattern PREFIX = Pattern.compile("[a-z][a-z0-9_]{0,39}");

    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public JdbcOptions {
        if (schema != null && !SCHEMA.matcher(schema).matches()) {
            throw new InvalidConfigurationException(
                    "schema", "must be a name of letters, digits and underscores, at most 63 characters long");
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
        return new JdbcOptions(null, Tables.DEFAULT_PREFIX, 1024 * 1024, 10_000, 2000, Archive.FULL);
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
