package dev.postrider.store;

import dev.postrider.error.InvalidConfigurationException;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The place of the tables, the limits of their contents, and how they are written. Immutable; start with {@link #defaults()}.
 *
 * @param schema the schema (on MySQL and MariaDB: the database) that contains the tables; null for the schema of the connection
 * @param tablePrefix the prefix of every table name
 * @param maxPayloadBytes the largest accepted payload, in bytes
 * @param stagedLimit the most messages that one unit of work may stage
 * @param errorLimit how many characters of an error text are stored
 * @param archive which part of a delivered message the archive keeps
 * @param commitWithInsert PostgreSQL: whether a transaction of Postrider is committed in one request with the INSERT of its staged
 *     messages, where that is possible
 */
public record TableOptions(
        @Nullable String schema,
        String tablePrefix,
        int maxPayloadBytes,
        int stagedLimit,
        int errorLimit,
        Archive archive,
        boolean commitWithInsert) {

    /** The prefix of every table name, unless another one is configured. */
    public static final String DEFAULT_PREFIX = "postrider_";

    /** Which part of a delivered message the archive keeps until its retention ends. */
    public enum Archive {
        FULL,
        WITHOUT_PAYLOAD,
        OFF
    }

    /** The longest name with the prefix, such as that of the index message_leased, must fit into the 63 characters of PostgreSQL. */
    private static final Pattern PREFIX = Pattern.compile("[a-z][a-z0-9_]{0,39}");

    private static final Pattern SCHEMA = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,62}");

    public TableOptions {
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

    public static TableOptions defaults() {
        return new TableOptions(null, DEFAULT_PREFIX, 1024 * 1024, 10_000, 2000, Archive.FULL, true);
    }

    /** Returns a copy with changes: {@code options.with(t -> t.schema("messaging"))}. */
    public TableOptions with(Consumer<Builder> change) {
        Builder builder = new Builder(this);
        change.accept(builder);
        return builder.build();
    }

    private static void range(String property, int value, int min, int max) {
        if (value < min || value > max) {
            throw new InvalidConfigurationException(property, "must be " + min + " to " + max + ", but is " + value);
        }
    }

    /** Collects the options. Each method has the name of its property. Not thread-safe. */
    public static final class Builder {

        private @Nullable String schema;
        private String tablePrefix;
        private int maxPayloadBytes;
        private int stagedLimit;
        private int errorLimit;
        private Archive archive;
        private boolean commitWithInsert;

        private Builder(TableOptions options) {
            schema = options.schema;
            tablePrefix = options.tablePrefix;
            maxPayloadBytes = options.maxPayloadBytes;
            stagedLimit = options.stagedLimit;
            errorLimit = options.errorLimit;
            archive = options.archive;
            commitWithInsert = options.commitWithInsert;
        }

        /** Sets the schema (on MySQL and MariaDB: the database) that contains the tables; null for that of the connection. */
        public Builder schema(@Nullable String schema) {
            this.schema = schema;
            return this;
        }

        /** Sets the prefix of every table name. */
        public Builder tablePrefix(String tablePrefix) {
            this.tablePrefix = tablePrefix;
            return this;
        }

        /** Sets the largest accepted payload, up to 64 MiB. */
        public Builder maxPayloadBytes(int maxPayloadBytes) {
            this.maxPayloadBytes = maxPayloadBytes;
            return this;
        }

        /** Sets the most messages that one unit of work may stage. */
        public Builder stagedLimit(int stagedLimit) {
            this.stagedLimit = stagedLimit;
            return this;
        }

        /** Sets how many characters of an error text are stored. */
        public Builder errorLimit(int errorLimit) {
            this.errorLimit = errorLimit;
            return this;
        }

        /** Sets which part of a delivered message the archive keeps. */
        public Builder archive(Archive archive) {
            this.archive = archive;
            return this;
        }

        /**
         * Sets whether, on PostgreSQL, a transaction of Postrider is committed in one request with the INSERT of its staged messages. Set
         * false for a data source that reads statements, or must see the commit as a call of its own.
         */
        public Builder commitWithInsert(boolean commitWithInsert) {
            this.commitWithInsert = commitWithInsert;
            return this;
        }

        private TableOptions build() {
            return new TableOptions(
                    schema, tablePrefix, maxPayloadBytes, stagedLimit, errorLimit, archive, commitWithInsert);
        }
    }
}
