package dev.postrider.jdbc.sql;

import dev.postrider.error.InvalidConfigurationException;
import java.nio.ByteBuffer;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The supported databases. Each has its spelling of times, ids, locks and hints, and a few properties that decide how it is used. Detects
 * the database of a connection.
 */
public enum DatabaseKind {
    POSTGRESQL(
            "postgresql",
            "\"",
            "clock_timestamp()",
            "clock_timestamp() + ? * interval '1 microsecond'",
            "clock_timestamp() - ? * interval '1 microsecond'") {
        @Override
        public String existenceLock() {
            return " FOR KEY SHARE";
        }

        /** A slice of a large payload is read without the rest of it. The highest bit is left out, because a damaged row must not overflow. */
        @Override
        String payloadSize() {
            return """
                    CASE WHEN octet_length(payload) > 3 AND (attributes LIKE '{"compression"%' OR attributes LIKE '{"encryption"%')
                         THEN get_byte(substring(payload FROM 1 FOR 4), 0) + get_byte(substring(payload FROM 1 FOR 4), 1) * 256
                              + get_byte(substring(payload FROM 1 FOR 4), 2) * 65536
                              + (get_byte(substring(payload FROM 1 FOR 4), 3) & 127) * 16777216
                         ELSE octet_length(payload) END""";
        }

        @Override
        public String newestRead() {
            return "";
        }

        @Override
        public boolean errorEndsTransaction() {
            return true;
        }

        @Override
        TransactionEnd.ImplicitCommits implicitCommits() {
            return TransactionEnd.ImplicitCommits.NONE;
        }

        /** The id of the transaction: a savepoint would be lost when user code returns to an earlier one. */
        @Override
        TransactionProof transactionProof() {
            return TransactionProof.ById.onPostgres();
        }

        @Override
        public boolean worksInSingleStatements() {
            return true;
        }
    },

    MYSQL("mysql") {
        @Override
        public boolean asksServerIfReadOnly() {
            return true;
        }

        /** The old spelling of the clause cannot be combined with SKIP LOCKED here. */
        @Override
        public String existenceLockIfFree() {
            return " FOR SHARE SKIP LOCKED";
        }

        /** FORCE INDEX has no effect here: MySQL scans a table of up to some hundred rows and locks every row of it. */
        @Override
        String deleteByKey() {
            return "DELETE /*+ INDEX(d PRIMARY) */ FROM {$1} AS d";
        }
    },

    /** Its schema differs from that of MySQL in the collation that compares byte by byte. */
    MARIADB("mariadb") {
        /** Uses the multi-table form of DELETE, because the single-table form accepts no hint. */
        @Override
        String deleteByKey() {
            return "DELETE {$1} FROM {$1}" + byKey();
        }
    },

    /** For development and tests. It supports every function, but only one claim at a time gets rows. */
    H2(
            "h2",
            "\"",
            "CURRENT_TIMESTAMP(6)",
            "DATEADD(MICROSECOND, CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))",
            "DATEADD(MICROSECOND, -CAST(? AS BIGINT), CURRENT_TIMESTAMP(6))") {
        @Override
        TransactionEnd.ImplicitCommits implicitCommits() {
            return TransactionEnd.ImplicitCommits.DDL_AND_TEMPORARY_TABLES;
        }

        @Override
        TransactionProof transactionProof() {
            return TransactionProof.ById.onH2();
        }

        /** False: the driver checks a released savepoint only in its own memory, and the database ignores the statement. */
        @Override
        public boolean checksSavepoints() {
            return false;
        }

        @Override
        public String existenceLock() {
            return " FOR UPDATE";
        }

        @Override
        public String newestRead() {
            return "";
        }

        @Override
        String spelled(String statement) {
            return fromInnoDb(super.spelled(statement));
        }

        @Override
        String payloadSize() {
            return """
                    CASE WHEN OCTET_LENGTH(payload) > 3 AND (attributes LIKE '{"compression"%' OR attributes LIKE '{"encryption"%')
                         THEN CAST(X'00000000' || SUBSTRING(payload FROM 4 FOR 1) || SUBSTRING(payload FROM 3 FOR 1)
                                   || SUBSTRING(payload FROM 2 FOR 1) || SUBSTRING(payload FROM 1 FOR 1) AS BIGINT)
                         ELSE OCTET_LENGTH(payload) END""";
        }
    };

    private static final Pattern DELETE_BY_KEY = Pattern.compile("\\{delete (\\w+)}");

    private static final Pattern MICROS_UNTIL =
            Pattern.compile("TIMESTAMPDIFF\\(MICROSECOND, UTC_TIMESTAMP\\(6\\), ([a-z_.]+)\\)");

    private static final Pattern INDEX_HINT = Pattern.compile(" FORCE INDEX \\([^)]*\\)");

    private final String folder;
    private final String quote;
    private final String now;
    private final String later;
    private final String ago;

    DatabaseKind(String folder, String quote, String now, String later, String ago) {
        this.folder = folder;
        this.quote = quote;
        this.now = now;
        this.later = later;
        this.ago = ago;
    }

    /** MySQL and MariaDB: times are UTC in columns of type DATETIME(6), ids are 16 bytes. */
    DatabaseKind(String folder) {
        this(
                folder,
                "`",
                "UTC_TIMESTAMP(6)",
                "UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND",
                "UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND");
    }

    /** @throws InvalidConfigurationException for an unsupported database, or a version that is too old */
    public static DatabaseKind of(DatabaseMetaData server) throws SQLException {
        String product = server.getDatabaseProductName();
        String version = server.getDatabaseProductVersion();
        return switch (product) {
            case "PostgreSQL" -> atLeast(13, 0, server, POSTGRESQL);
            case "MariaDB" -> atLeast(10, 6, server, MARIADB);
            // MySQL's own driver reports a MariaDB server as MySQL. The version text shows the difference.
            case "MySQL" ->
                version.contains("MariaDB") ? atLeast(10, 6, server, MARIADB) : atLeast(8, 0, server, mySql(version));
            case "H2" -> atLeast(2, 2, server, H2);
            default ->
                throw new InvalidConfigurationException(
                        "db.url",
                        "leads to " + product + ", but Postrider works with PostgreSQL, MySQL, MariaDB and H2");
        };
    }

    /** MySQL 8.0.17 introduced the collation that compares byte by byte, including trailing blanks. */
    private static DatabaseKind mySql(String version) {
        if (version.matches("8\\.0\\.(\\d|1[0-6])(\\D.*)?")) {
            throw new InvalidConfigurationException(
                    "db.url", "leads to MySQL " + version + ", but at least 8.0.17 is needed");
        }
        return MYSQL;
    }

    private static DatabaseKind atLeast(int major, int minor, DatabaseMetaData server, DatabaseKind kind)
            throws SQLException {
        int found = server.getDatabaseMajorVersion();
        if (found < major || (found == major && server.getDatabaseMinorVersion() < minor)) {
            throw new InvalidConfigurationException(
                    "db.url",
                    "leads to " + server.getDatabaseProductName() + " " + server.getDatabaseProductVersion()
                            + ", but at least " + major + "." + minor + " is needed");
        }
        return kind;
    }

    /** Whether this is MySQL or MariaDB, with their storage engine InnoDB. */
    public boolean isInnoDb() {
        return this == MYSQL || this == MARIADB;
    }

    /** The folder of the schema files. */
    public String folder() {
        return folder;
    }

    /** The quote character that the database accepts around any name. */
    String quote() {
        return quote;
    }

    /** The quote character around the configured schema. H2 folds its name like the names in statements, so it has none. */
    String schemaQuote() {
        return this == H2 ? "" : quote;
    }

    /** The SQL expression for a time after now. Its one parameter is a number of microseconds. */
    public String later() {
        return later;
    }

    /** The clause that makes a SELECT lock its rows against deletion until the transaction ends. */
    public String existenceLock() {
        return " LOCK IN SHARE MODE";
    }

    /** As {@link #existenceLock}, but the SELECT leaves out rows that another transaction has locked. */
    public String existenceLockIfFree() {
        return existenceLock() + " SKIP LOCKED";
    }

    /** The clause that makes a SELECT read the newest committed rows, also in a transaction with an older snapshot. */
    public String newestRead() {
        return " LOCK IN SHARE MODE";
    }

    /**
     * Whether {@link java.sql.Connection#isReadOnly} costs a round trip to the server with the driver of this database. Then it is called
     * only after a failed write: the server or the driver refuses the write anyway, and a round trip for every message costs too much.
     */
    public boolean asksServerIfReadOnly() {
        return false;
    }

    /** Whether a failed statement aborts its transaction, so that only a rollback is possible. */
    public boolean errorEndsTransaction() {
        return false;
    }

    /** The statements of user code before which the database commits. */
    TransactionEnd.ImplicitCommits implicitCommits() {
        return TransactionEnd.ImplicitCommits.DDL;
    }

    /** Returns a new proof for one transaction with user code. */
    TransactionProof transactionProof() {
        return new TransactionProof.BySavepoint();
    }

    /** Whether the release of a savepoint fails when its transaction no longer exists. */
    public boolean checksSavepoints() {
        return true;
    }

    /** Whether every claim and every outcome is a single statement, which needs no transaction around it. */
    public boolean worksInSingleStatements() {
        return false;
    }

    /** The clause after a table that makes the database use the primary key, whatever the statistics say. */
    String byKey() {
        return isInnoDb() ? " FORCE INDEX (PRIMARY)" : "";
    }

    /** The beginning of a DELETE from the table {@code $1} that uses the primary key. */
    String deleteByKey() {
        return "DELETE FROM {$1}";
    }

    /**
     * Replaces the expressions that the databases spell differently: {@code {payload size}}, {@code {now}}, {@code {later}} and {@code {ago}}, which have a number
     * of microseconds as their parameter, {@code {by key}} after a table, and {@code {delete message}} at the beginning of a DELETE. The
     * last two make the database use the primary key. Otherwise it may read all of a small table, including rows that other transactions
     * have locked.
     */
    String spelled(String statement) {
        return DELETE_BY_KEY
                .matcher(statement)
                .replaceAll(deleteByKey())
                .replace("{by key}", byKey())
                .replace("{payload size}", payloadSize())
                .replace("{now}", now)
                .replace("{later}", later)
                .replace("{ago}", ago);
    }

    /**
     * Rewrites a statement of MySQL and MariaDB for H2, which runs their statements. The time of H2 has a time zone. DATEDIFF is not used,
     * because it compares the local times of two time zones.
     */
    private static String fromInnoDb(String statement) {
        String withTimes = MICROS_UNTIL
                .matcher(statement)
                .replaceAll(
                        "CAST((EXTRACT(EPOCH FROM $1) - EXTRACT(EPOCH FROM CURRENT_TIMESTAMP(6))) * 1000000 AS BIGINT)")
                .replace(
                        "DATE_FORMAT(UTC_TIMESTAMP(6), '%Y-%m-%dT%H:%i:%s.%fZ')",
                        "FORMATDATETIME(CURRENT_TIMESTAMP(6), 'yyyy-MM-dd''T''HH:mm:ss.SSSSSS''Z''', 'en', 'UTC')")
                .replace("UTC_TIMESTAMP(6) + INTERVAL ? MICROSECOND", H2.later)
                .replace("UTC_TIMESTAMP(6) - INTERVAL ? MICROSECOND", H2.ago)
                .replace("UTC_TIMESTAMP(6)", H2.now)
                .replace("CONNECTION_ID()", "SESSION_ID()")
                .replace("COALESCE(?, ", "COALESCE(CAST(? AS TIMESTAMP(6) WITH TIME ZONE), ")
                .replace("'9999-12-31 00:00:00'", "TIMESTAMP WITH TIME ZONE '9999-12-31 00:00:00+00'");
        return INDEX_HINT.matcher(withTimes).replaceAll("");
    }

    /**
     * The number of bytes that the payload of a row has in memory. A compressed or encrypted one begins with that number, in four bytes with
     * the lowest first, and the attributes of its row begin with the member that says so.
     */
    String payloadSize() {
        return """
                CASE WHEN attributes LIKE '{"compression"%' OR attributes LIKE '{"encryption"%' THEN UNCOMPRESSED_LENGTH(payload)
                     ELSE OCTET_LENGTH(payload) END""";
    }

    // Ids and times use the types of JDBC, where the database has such types

    void bindUuid(PreparedStatement statement, int index, UUID value) throws SQLException {
        if (isInnoDb()) {
            statement.setBytes(
                    index,
                    ByteBuffer.allocate(16)
                            .putLong(value.getMostSignificantBits())
                            .putLong(value.getLeastSignificantBits())
                            .array());
        } else {
            statement.setObject(index, value);
        }
    }

    UUID readUuid(ResultSet row, int column) throws SQLException {
        if (isInnoDb()) {
            ByteBuffer bytes = ByteBuffer.wrap(row.getBytes(column));
            return new UUID(bytes.getLong(), bytes.getLong());
        }
        return row.getObject(column, UUID.class);
    }

    void bindTime(PreparedStatement statement, int index, Instant value) throws SQLException {
        statement.setObject(
                index, isInnoDb() ? LocalDateTime.ofInstant(value, ZoneOffset.UTC) : value.atOffset(ZoneOffset.UTC));
    }

    @Nullable
    Instant readTime(ResultSet row, int column) throws SQLException {
        if (isInnoDb()) {
            LocalDateTime time = row.getObject(column, LocalDateTime.class);
            return time == null ? null : time.toInstant(ZoneOffset.UTC);
        }
        Timestamp time = row.getTimestamp(column); // the driver makes an OffsetDateTime from a dozen objects
        return time == null ? null : time.toInstant();
    }
}
