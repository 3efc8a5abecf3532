package dev.postrider.jdbc.schema;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.postrider.error.InvalidConfigurationException;
import dev.postrider.error.StoreException;
import dev.postrider.jdbc.sql.SqlErrors;
import dev.postrider.jdbc.sql.SqlRunner;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The schema on MySQL and MariaDB. */
final class InnoDbSchema implements SchemaStatements {

    private static final int MIGRATION_WAIT_SECONDS = 60;

    /** The same name for all processes that migrate the same tables, and shorter than the limit of 64 characters. */
    private static final String LOCK_NAME = "CONCAT('postrider_migration_', MD5(LOWER(?)))";

    /** Characters of one, two, three and four bytes in UTF-8: every other character set loses one of them. */
    private static final String CHARACTERS = "a\u00e4\u043a\u6f22\ud83d\ude00";

    private static final Instant TIME = Instant.parse("2026-03-29T02:30:00.123457Z");

    private final SqlRunner sql;

    InnoDbSchema(SqlRunner sql) {
        this.sql = sql;
    }

    @Override
    public Catalog.Questions catalogQuestions() {
        return new Catalog.Questions(
                "SELECT 1 FROM information_schema.tables WHERE table_schema = ? AND table_name = ? AND table_type = 'BASE TABLE'",
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = ? AND table_name = ?",
                "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = ? AND table_name = ?");
    }

    @Override
    public Optional<String> schemaOfTables(Connection connection, @Nullable String configured) throws SQLException {
        return configured != null
                ? Optional.of(configured)
                : sql.query(
                        connection,
                        "SELECT DATABASE()",
                        binder -> {},
                        row -> row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty());
    }

    @Override
    public String schemaQuery() {
        return "SELECT 1 FROM information_schema.schemata WHERE schema_name = ?";
    }

    /**
     * Uses a lock that is named after the schema, not after the database of the session: sessions of different databases may migrate the
     * same schema. The name has a fixed length below the limit of 64 characters, whatever the prefix of the tables.
     */
    @Override
    public void migrate(Connection connection, String schema, Migration migration) throws SQLException {
        connection.setAutoCommit(true);
        String lock = schema + "." + sql.tables().bare("schema");
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET SESSION lock_wait_timeout = 10");
            lockForMigration(connection, lock);
            try {
                migration.run(connection);
            } finally {
                sql.query(
                        connection,
                        "SELECT RELEASE_LOCK(" + LOCK_NAME + ")",
                        binder -> binder.text(lock),
                        ResultSet::next);
                statement.execute("SET SESSION lock_wait_timeout = DEFAULT");
            }
        }
    }

    private void lockForMigration(Connection connection, String lock) throws SQLException {
        Optional<Integer> answer = sql.query(
                connection,
                "SELECT GET_LOCK(" + LOCK_NAME + ", ?)",
                binder -> binder.text(lock).integer(MIGRATION_WAIT_SECONDS),
                row -> row.next() && row.getObject(1) != null ? Optional.of(row.getInt(1)) : Optional.empty());
        if (answer.isEmpty()) {
            throw new StoreException(
                    "The server failed to answer GET_LOCK, which lets one process at a time migrate " + lock
                            + ": check the log of the server, then try again",
                    null);
        }
        if (answer.get() != 1) {
            throw new StoreException(
                    "Another process has been migrating the schema for " + MIGRATION_WAIT_SECONDS
                            + " s: wait for it, then try again",
                    null);
        }
    }

    @Override
    public void checkConnection(Connection connection) throws SQLException {
        checkCharacters(connection);
        checkTimes(connection);
        sql.query(connection, "SELECT @@sql_safe_updates", binder -> {}, row -> {
            row.next();
            if (row.getBoolean(1)) {
                throw new InvalidConfigurationException(
                        "db.url",
                        "has a connection with sql_safe_updates=1, in which the server refuses statements of Postrider: leave it"
                                + " out where the session is set up, or SET sql_safe_updates = 0");
            }
            return true;
        });
    }

    /** Checks that times keep their microseconds. Leases, due times and keys of ordered topics depend on them. */
    private void checkTimes(Connection connection) throws SQLException {
        sql.query(connection, "SELECT CAST(? AS DATETIME(6))", binder -> binder.time(TIME), row -> {
            row.next();
            if (!TIME.equals(sql.readTime(row, 1))) {
                throw new InvalidConfigurationException(
                        "db.url",
                        "has a connection that changes times on the way to the server or back: leave out"
                                + " sendFractionalSeconds=false, which drops their fractions");
            }
            return true;
        });
    }

    private void checkCharacters(Connection connection) throws SQLException {
        String sent = HexFormat.of().withUpperCase().formatHex(CHARACTERS.getBytes(UTF_8));
        sql.query(
                connection,
                "SELECT HEX(CONVERT(? USING utf8mb4)), CONVERT(UNHEX('" + sent
                        + "') USING utf8mb4), @@character_set_client, @@character_set_results",
                binder -> binder.text(CHARACTERS),
                row -> {
                    row.next();
                    if (!sent.equals(row.getString(1)) || !CHARACTERS.equals(row.getString(2))) {
                        throw new InvalidConfigurationException(
                                "db.url",
                                "has a connection that loses characters (character_set_client " + row.getString(3)
                                        + ", character_set_results " + row.getString(4)
                                        + "), so that different keys and tenants become the same: use characterEncoding=UTF-8"
                                        + " with MySQL's driver, and SET NAMES utf8mb4 wherever the session is set up");
                    }
                    return true;
                });
    }

    /** Tries each privilege on no row, because only the server can evaluate roles and patterns. */
    @Override
    public List<String> missingGrants(Connection connection, Map<String, String> columns) throws SQLException {
        List<String> missing = new ArrayList<>();
        for (Map.Entry<String, String> table : columns.entrySet()) {
            String name = sql.tables().qualified(table.getKey());
            String column = table.getValue();
            Map<String, String> trials = new LinkedHashMap<>();
            trials.put("SELECT", "SELECT 1 FROM " + name + " LIMIT 0");
            trials.put("INSERT", "INSERT INTO " + name + " SELECT * FROM " + name + " LIMIT 0");
            trials.put("UPDATE", "UPDATE " + name + " SET " + column + " = " + column + " LIMIT 0");
            trials.put("DELETE", "DELETE FROM " + name + " LIMIT 0");
            for (Map.Entry<String, String> trial : trials.entrySet()) {
                if (isDenied(connection, trial.getValue())) {
                    missing.add(trial.getKey() + " on " + name);
                }
            }
        }
        return missing;
    }

    private static boolean isDenied(Connection connection, String trial) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(trial);
        } catch (SQLException e) {
            if (!SqlErrors.isDenied(e) && !SqlErrors.isMissingTable(e)) {
                throw e;
            }
            return SqlErrors.isDenied(e);
        }
        return false;
    }

    @Override
    public void checkServer(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery("SELECT @@global.read_only")) {
            answer.next();
            if (answer.getBoolean(1)) {
                throw new InvalidConfigurationException(
                        "db.url", "leads to a read-only server, such as a replica: use the primary's address");
            }
        }
    }
}
