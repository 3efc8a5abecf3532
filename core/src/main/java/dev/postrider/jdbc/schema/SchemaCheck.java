package dev.postrider.jdbc.schema;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import dev.postrider.store.TableOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Compares the tables in the database with those that this version needs. A difference is reported with its fix. */
final class SchemaCheck {

    /** The kind of data in a column, independent of the database. */
    private enum ColumnKind {
        NUMBER("BIGINT", "INT8", "INT", "INT4", "INTEGER", "SERIAL", "BIGSERIAL", "SMALLINT", "INT2"),
        TEXT("VARCHAR", "TEXT", "MEDIUMTEXT", "LONGTEXT", "CHARACTER VARYING", "CHAR", "ENUM"),
        BYTES(
                "BYTEA",
                "BLOB",
                "LONGBLOB",
                "MEDIUMBLOB",
                "BINARY",
                "VARBINARY",
                "BINARY VARYING",
                "BINARY LARGE OBJECT"),
        ID("UUID", "BINARY"),
        TIME("TIMESTAMPTZ", "DATETIME", "TIMESTAMP WITH TIME ZONE"),
        FLAG("BOOL", "BOOLEAN", "BIT", "TINYINT");

        @SuppressWarnings("ImmutableEnumChecker") // Set.of is immutable; its type does not say so
        private final Set<String> names;

        ColumnKind(String... names) {
            this.names = Set.of(names);
        }

        /** Ignores the lengths and signs that drivers add to the name of a type. */
        boolean matches(String typeName) {
            String plain = typeName.toUpperCase(Locale.ROOT)
                    .replaceAll("\\([^)]*\\)", "")
                    .replace(" UNSIGNED", "")
                    .strip();
            return names.contains(plain);
        }
    }

    private static final Map<String, Map<ColumnKind, String>> COLUMNS = Map.ofEntries(
            Map.entry(
                    "message",
                    Map.of(
                            ColumnKind.NUMBER, "seq topic_id lane attempts crashes",
                            ColumnKind.ID, "id lease_token",
                            ColumnKind.BYTES, "payload",
                            ColumnKind.TIME, "available_at locked_until created_at updated_at",
                            ColumnKind.TEXT,
                                    "topic type tenant ordering_key idempotency_key content_type attributes state"
                                            + " locked_by last_error reason fingerprint failed_attempts")),
            Map.entry(
                    "archive",
                    Map.of(
                            ColumnKind.NUMBER, "seq topic_id attempts crashes",
                            ColumnKind.ID, "id",
                            ColumnKind.BYTES, "payload",
                            ColumnKind.TIME, "created_at delivered_at redelivered_at",
                            ColumnKind.TEXT,
                                    "topic type tenant ordering_key idempotency_key content_type attributes"
                                            + " failed_attempts")),
            Map.entry(
                    "dedup",
                    Map.of(
                            ColumnKind.NUMBER, "topic_id",
                            ColumnKind.BYTES, "key_hash payload_hash",
                            ColumnKind.ID, "message_id",
                            ColumnKind.TIME, "seen_at")),
            Map.entry(
                    "topic",
                    Map.of(
                            ColumnKind.NUMBER, "id lanes",
                            ColumnKind.TEXT, "namespace topic",
                            ColumnKind.FLAG, "tenant_prefixed_keys paused",
                            ColumnKind.TIME, "created_at removed_at")),
            Map.entry(
                    "lane",
                    Map.of(
                            ColumnKind.NUMBER, "topic_id lane floor buffer isolated revision",
                            ColumnKind.TEXT, "owner",
                            ColumnKind.ID, "token",
                            ColumnKind.TIME, "until")),
            Map.entry(
                    "node",
                    Map.of(
                            ColumnKind.ID, "instance",
                            ColumnKind.TEXT, "worker version topics",
                            ColumnKind.TIME, "started_at until")),
            Map.entry(
                    "audit",
                    Map.of(
                            ColumnKind.NUMBER, "id changed skipped",
                            ColumnKind.TIME, "at",
                            ColumnKind.TEXT, "operator action namespace topic filter_text reason",
                            ColumnKind.ID, "message_id")),
            Map.entry(
                    "operation",
                    Map.of(
                            ColumnKind.NUMBER, "id message_limit per_second changed skipped failures",
                            ColumnKind.TEXT, "action filter_json operator reason state reached node error",
                            ColumnKind.ID, "token",
                            ColumnKind.TIME, "until created_at started_at updated_at ended_at")),
            Map.entry(
                    "inbox_mark",
                    Map.of(
                            ColumnKind.ID, "message_id",
                            ColumnKind.TEXT, "consumer tenant",
                            ColumnKind.BYTES, "payload_hash",
                            ColumnKind.TIME, "seen_at")),
            Map.entry("inbox_handler", Map.of(ColumnKind.TEXT, "consumer handler type", ColumnKind.TIME, "created_at")),
            Map.entry(
                    "sample",
                    Map.of(
                            ColumnKind.FLAG,
                            "only_one",
                            ColumnKind.ID,
                            "token",
                            ColumnKind.TEXT,
                            "node content",
                            ColumnKind.TIME,
                            "due_at taken_at")),
            Map.entry(
                    "command",
                    Map.of(
                            ColumnKind.BYTES, "id fingerprint steps result",
                            ColumnKind.ID, "reference owner",
                            ColumnKind.NUMBER, "fence lease_micros attempts fingerprint_version",
                            ColumnKind.FLAG, "uncertain_if_lost effect_started",
                            ColumnKind.TEXT,
                                    "operation tenant caller key_prefix state outcome result_kind result_codec reason",
                            ColumnKind.TIME,
                                    "lease_until created_at updated_at completed_at result_expires_at key_expires_at")));

    private static final Map<String, List<String>> INDEXES = Map.of(
            "message", List.of("message_id", "message_due"),
            "archive", List.of("archive_id"),
            "dedup", List.of("dedup_seen"),
            "inbox_mark", List.of("inbox_mark_seen"),
            "command", List.of("command_reference", "command_result_end", "command_key_end", "command_open"),
            "topic", List.of("topic_name"));

    private final SqlRunner sql;
    private final SchemaStatements statements;

    SchemaCheck(SqlRunner sql, SchemaStatements statements) {
        this.sql = sql;
        this.statements = statements;
    }

    /** @throws SchemaMismatchException if this version cannot work with the tables */
    void check(Connection connection) throws SQLException {
        checkVersion(connection);
        checkGrants(connection);
        String schema = Migrator.place(statements, connection, sql.tables().schema());
        List<String> problems = new ArrayList<>();
        for (String table : new TreeSet<>(COLUMNS.keySet())) {
            problems.addAll(compare(connection, schema, table));
        }
        if (!problems.isEmpty()) {
            throw new SchemaMismatchException(
                    "The tables are of version " + Migrator.CURRENT + " but differ from that version: "
                            + String.join("; ", problems)
                            + ". Undo the changes, or create all the tables again: " + fix());
        }
    }

    /** Checks the grants at start. Otherwise a missing grant would fail only during operation. */
    private void checkGrants(Connection connection) throws SQLException {
        List<String> missing = missingGrants(connection);
        if (!missing.isEmpty()) {
            throw new InvalidConfigurationException(
                    "db.user",
                    "lacks " + String.join(", ", missing) + ": the owner of the tables must grant it ("
                            + "docs/databases.md has the statements)");
        }
    }

    List<String> missingGrants(Connection connection) throws SQLException {
        Map<String, String> columns = new TreeMap<>();
        COLUMNS.forEach((table, kinds) ->
                columns.put(table, kinds.values().iterator().next().split(" ")[0]));
        return statements.missingGrants(connection, columns);
    }

    /** Adds the options of these tables to the command, which otherwise would create other tables. */
    private String fix() {
        String tables = (sql.tables().schema() == null
                        ? ""
                        : " --schema " + sql.tables().schema())
                + (sql.tables().prefix().equals(TableOptions.DEFAULT_PREFIX)
                        ? ""
                        : " --table-prefix " + sql.tables().prefix());
        return SqlErrors.FIX.replace("<jdbc url>", "<jdbc url>" + tables);
    }

    private void checkVersion(Connection connection) throws SQLException {
        int version;
        int minCompatible;
        try (Statement statement = connection.createStatement();
                ResultSet row =
                        statement.executeQuery(sql.sql("SELECT MAX(version), MAX(min_compatible) FROM {schema}"))) {
            row.next();
            version = row.getInt(1);
            minCompatible = row.getInt(2);
        } catch (SQLException e) {
            if (SqlErrors.isDenied(e)) {
                throw new InvalidConfigurationException(
                        "db.user",
                        "lacks SELECT on " + sql.tables().qualified("schema")
                                + ": the owner of the tables must grant it (docs/databases.md has the statements)");
            }
            if (SqlErrors.isMissingTable(e)) {
                Migrator.requireSchema(sql, statements, connection, sql.tables().schema());
                throw new SchemaMismatchException("There are no tables of Postrider in this database"
                        + (sql.tables().schema() == null
                                ? ""
                                : " in schema " + sql.tables().schema()) + ". " + fix());
            }
            throw e;
        }
        if (version < Migrator.CURRENT) {
            throw new SchemaMismatchException(
                    "The tables are of version " + version + ", this library needs " + Migrator.CURRENT + ". " + fix());
        }
        if (minCompatible > Migrator.CURRENT) {
            throw new SchemaMismatchException("The tables are of version " + version
                    + ", which needs a library for schema version " + minCompatible + " or later; this one is for "
                    + Migrator.CURRENT + ". Upgrade Postrider in this process");
        }
    }

    private List<String> compare(Connection connection, String schema, String table) throws SQLException {
        Catalog catalog = Catalog.read(
                sql,
                statements.catalogQuestions(),
                connection,
                schema,
                sql.tables().bare(table));
        if (!catalog.isTable()) {
            return List.of(sql.tables().bare(table) + " is missing or not a table");
        }
        List<String> problems = new ArrayList<>();
        COLUMNS.getOrDefault(table, Map.of()).forEach((kind, names) -> {
            for (String column : names.split(" ")) {
                String type = catalog.columns().get(column);
                if (type == null) {
                    problems.add(sql.tables().bare(table) + "." + column + " is missing");
                } else if (!kind.matches(type)) {
                    problems.add(sql.tables().bare(table) + "." + column + " is of type " + type);
                }
            }
        });
        for (String index : INDEXES.getOrDefault(table, List.of())) {
            String wanted = sql.tables().bare(index);
            // H2 names the index of a constraint after the constraint and adds a suffix.
            if (catalog.indexes().stream().noneMatch(name -> name.startsWith(wanted))) {
                problems.add("index " + wanted + " is missing");
            }
        }
        return problems;
    }
}
