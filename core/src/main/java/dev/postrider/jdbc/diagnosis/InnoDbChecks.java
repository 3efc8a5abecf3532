package dev.postrider.jdbc.diagnosis;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The checks of MySQL and MariaDB. Immutable, thread-safe. */
final class InnoDbChecks implements ServerChecks {

    private static final String SETTINGS =
            "SELECT @@global.innodb_flush_log_at_trx_commit AS flush_log, @@global.max_allowed_packet AS packet";

    /** A statement carries up to four megabytes of payload and headers, or one larger message, and needs twice that. */
    private static final long SMALLEST_PACKET = 16L * 1024 * 1024;

    private static final String OLD_VERSIONS =
            "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'";

    private static final String ROWS = """
            SELECT table_rows FROM information_schema.tables
            WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?
            """;

    /** The shape of the claim of an unordered topic. */
    private static final String EXPLAIN_DUE = """
            EXPLAIN SELECT seq FROM {message} WHERE state = 'PENDING' AND topic_id = ? AND lane IS NULL
            ORDER BY available_at, seq LIMIT 100
            """;

    private static final String INDEXES = """
            SELECT DISTINCT index_name, TRUE FROM information_schema.statistics
            WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ?
            LIMIT 1000
            """;

    private final DiagnosisLimits limits;

    InnoDbChecks(DiagnosisLimits limits) {
        this.limits = limits;
    }

    @Override
    public List<DiagnosisFinding> settings(BoundedQueries queries) throws SQLException {
        return queries.query(SETTINGS, binder -> {}, row -> {
            List<DiagnosisFinding> findings = new ArrayList<>();
            if (row.next() && row.getInt("flush_log") != 1) {
                findings.add(DiagnosisFinding.warn(
                        "settings",
                        "innodb_flush_log_at_trx_commit is " + row.getInt("flush_log")
                                + ": a crash of the machine loses the commits of the last second, orders and messages alike",
                        "SET GLOBAL innodb_flush_log_at_trx_commit = 1; -- and in the configuration file"));
            }
            if (row.getLong("packet") < SMALLEST_PACKET) {
                findings.add(DiagnosisFinding.warn(
                        "settings",
                        "max_allowed_packet is " + row.getLong("packet")
                                + " bytes: a batch of large messages may be refused",
                        "SET GLOBAL max_allowed_packet = " + SMALLEST_PACKET + "; -- and in the configuration file"));
            }
            return findings;
        });
    }

    @Override
    public List<DiagnosisFinding> bloat(BoundedQueries queries) throws SQLException {
        long versions =
                queries.first(OLD_VERSIONS, binder -> {}).map(Long::parseLong).orElse(0L);
        return versions <= limits.deadRows()
                ? List.of()
                : List.of(DiagnosisFinding.warn(
                        "bloat",
                        "The server keeps the old versions of " + versions
                                + " changes (trx_rseg_history_len): an old transaction keeps them, or the purge is slow",
                        "end the oldest transaction: SELECT trx_mysql_thread_id, trx_started FROM"
                                + " information_schema.innodb_trx ORDER BY trx_started LIMIT 5;"));
    }

    @Override
    public List<DiagnosisFinding> plans(BoundedQueries queries) throws SQLException {
        long rows = queries.first(
                        ROWS,
                        binder -> binder.text(queries.sql().tables().schema())
                                .text(queries.sql().tables().bare("message")))
                .map(Long::parseLong)
                .orElse(0L);
        Optional<String> topic = rows <= limits.plannedRows()
                ? Optional.empty()
                : queries.first("SELECT topic_id FROM {message} LIMIT 1", binder -> {});
        if (topic.isEmpty()) {
            return List.of();
        }
        boolean usesIndex = queries.query(
                EXPLAIN_DUE,
                binder -> binder.integer(Integer.parseInt(topic.get())),
                row -> row.next() && row.getString("key") != null);
        String table = queries.sql().tables().qualified("message");
        return usesIndex
                ? List.of()
                : List.of(DiagnosisFinding.warn(
                        "plans",
                        "The claim reads all of the about " + rows + " rows of " + table
                                + ": an index is missing, or the statistics are old",
                        "ANALYZE TABLE " + table + ";"));
    }

    @Override
    public Map<String, Boolean> indexes(BoundedQueries queries, String table) throws SQLException {
        return queries.flags(
                INDEXES,
                binder -> binder.text(queries.sql().tables().schema())
                        .text(queries.sql().tables().bare(table)));
    }
}
