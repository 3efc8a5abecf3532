package dev.postrider.jdbc.sql;

import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/** Replaces table names in a statement, written {@code {message}}, by the names of this installation. Immutable, thread-safe. */
public final class Tables {

    private final @Nullable String schema;
    private final String qualifiedPrefix;
    private final String barePrefix;

    /**
     * @param schema the configured schema; null for the schema of the connection
     * @param quote the quote character for the schema, which may be a reserved word; Postrider's own names never are
     */
    static Tables of(@Nullable String schema, String prefix, String quote) {
        return new Tables(schema, schema == null ? prefix : quote + schema + quote + "." + prefix, prefix);
    }

    private Tables(@Nullable String schema, String qualifiedPrefix, String barePrefix) {
        this.schema = schema;
        this.qualifiedPrefix = qualifiedPrefix;
        this.barePrefix = barePrefix;
    }

    /**
     * Returns the same tables by their full names, independent of the current schema of a connection.
     *
     * @param schema the schema of the tables, as the database spells it
     * @param quote the quote character that the database accepts around any name
     */
    Tables in(String schema, String quote) {
        return new Tables(schema, quote + schema.replace(quote, quote + quote) + quote + "." + barePrefix, barePrefix);
    }

    /**
     * Replaces the names in a statement: {@code {message}} becomes the name of the message table, {@code {index message_lane}} the name of
     * an index.
     */
    String sql(String statement) {
        return statement
                .replaceAll("\\{index ([a-z_]+)}", Matcher.quoteReplacement(barePrefix) + "$1")
                .replaceAll("\\{([a-z_]+)}", Matcher.quoteReplacement(qualifiedPrefix) + "$1");
    }

    /** Replaces the placeholders in a schema file. Flyway can replace them too. */
    public String ddl(String script) {
        return script.replace("${tables}", qualifiedPrefix).replace("${prefix}", barePrefix);
    }

    /** The schema that is named in statements; null for the schema of the connection. */
    @Nullable
    public String schema() {
        return schema;
    }

    /** The prefix of every table name. */
    public String prefix() {
        return barePrefix;
    }

    public String bare(String table) {
        return barePrefix + table;
    }

    public String qualified(String table) {
        return qualifiedPrefix + table;
    }
}
