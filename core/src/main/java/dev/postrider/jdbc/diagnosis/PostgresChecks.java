package dev.postrider.jdbc.diagnosis;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The checks of PostgreSQL. Immutable, thread-safe. */
final class PostgresChecks implements ServerChecks {

    private static final String SETTINGS = """
            SELECT name, setting FROM pg_settings
            WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'autovacuum') AND setting = 'off'
            """;

    private static final String DATABASE = "SELECT quote_ident(current_database())";

    private static final String TABLE_STATISTICS = """
            SELECT s.n_live_tup AS live, s.n_dead_tup AS dead,
                   COALESCE(array_to_string(c.reloptions, ','), '') ~ 'autovacuum_enabled=(false|off|0|no)' AS switched_off
            FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
            WHERE c.oid = to_regclass(?)
            """;

    private static final String INDEXES = """
            SELECT x.relname, i.indisvalid FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid
            WHERE i.indrelid = to_regclass(?)
            LIMIT 1000
            """;

    private static final String ROWS = """
            SELECT GREATEST(c.reltuples::bigint, s.n_live_tup) FROM pg_class c JOIN pg_stat_all_tables s ON s.relid = c.oid
            WHERE c.oid = to_regclass(?)
            """;

    /** The shape of the claim of an unordered topic. */
    private static final String EXPLAIN_DUE = """
            EXPLAIN SELECT seq FROM {message} WHERE topic_id = ? AND state = 'PENDING' AND lane IS NULL
            ORDER BY available_at, seq LIMIT 100
            """;

    /** The shape of the search for expired leases. */
    private static final String EXPLAIN_LEASED = """
            EXPLAIN SELECT seq FROM {message} WHERE topic_id = ? AND state = 'PROCESSING'
            ORDER BY locked_until LIMIT 100
            """;

    /** The tables with the most changes. */
    private static final List<String> BUSY = List.of("message", "archive", "dedup", "lane", "inbox_mark", "command");

    private final DiagnosisLimits limits;

    PostgresChecks(DiagnosisLimits limits) {
        this.limits = limits;
    }

    @Override
    public List<DiagnosisFinding> settings(BoundedQueries queries) throws SQLException {
        Map<String, String> off = queries.query(SETTINGS, binder -> {}, row -> {
            Map<String, String> settings = new TreeMap<>();
            while (row.next()) {
                settings.put(row.getString("name"), row.getString("setting"));
            }
            return settings;
        });
        String database = queries.first(DATABASE, binder -> {}).orElse("");
        List<DiagnosisFinding> findings = new ArrayList<>();
        for (String name : off.keySet()) {
            findings.add(setting(name, database));
        }
        return findings;
    }

    private static DiagnosisFinding setting(String name, String database) {
        String everywhere = "ALTER SYSTEM SET " + name + " = on; SELECT pg_reload_conf();";
        return switch (name) {
            case "synchronous_commit" ->
                DiagnosisFinding.warn(
                        "settings",
                        "synchronous_commit is off: a crash of the server loses the commits of the last moments, orders and"
                                + " messages alike",
                        "ALTER DATABASE " + database + " SET synchronous_commit = on;");
            case "autovacuum" ->
                DiagnosisFinding.error(
                        "settings",
                        "autovacuum is off: the tables grow, and scans become slower and slower",
                        everywhere);
            default ->
                DiagnosisFinding.error(
                        "settings",
                        name + " is off: a crash of the machine can destroy committed messages",
                        everywhere);
        };
    }

    @Override
    public List<DiagnosisFinding> bloat(BoundedQueries queries) throws SQLException {
        List<DiagnosisFinding> findings = new ArrayList<>();
        for (String table : BUSY) {
            String name = queries.sql().tables().qualified(table);
            queries.query(TABLE_STATISTICS, binder -> binder.text(name), row -> {
                if (row.next()) {
                    findings.addAll(bloat(row, name));
                }
                return true;
            });
        }
        return findings;
    }

    private List<DiagnosisFinding> bloat(ResultSet row, String table) throws SQLException {
        List<DiagnosisFinding> findings = new ArrayList<>();
        if (row.getBoolean("switched_off")) {
            findings.add(DiagnosisFinding.error(
                    "bloat",
                    "autovacuum is switched off for " + table + ": it grows without end",
                    "ALTER TABLE " + table + " RESET (autovacuum_enabled);"));
        }
        long dead = row.getLong("dead");
        if (dead > limits.deadRows() && dead > row.getLong("live")) {
            findings.add(DiagnosisFinding.warn(
                    "bloat",
                    table + " has " + dead + " removed rows that are not cleaned up, beside " + row.getLong("live")
                            + " others: an old transaction or too slow an autovacuum keeps them",
                    "VACUUM (VERBOSE) " + table + ";"));
        }
        return findings;
    }

    @Override
    public List<DiagnosisFinding> plans(BoundedQueries queries) throws SQLException {
        String table = queries.sql().tables().qualified("message");
        long rows = queries.first(ROWS, binder -> binder.text(table))
                .map(Long::parseLong)
                .orElse(0L);
        List<DiagnosisFinding> findings = new ArrayList<>();
        Optional<String> topic = rows <= limits.plannedRows()
                ? Optional.empty()
                : queries.first("SELECT topic_id FROM {message} LIMIT 1", binder -> {});
        if (topic.isPresent()) {
            for (String explain : List.of(EXPLAIN_DUE, EXPLAIN_LEASED)) {
                queries.column(explain, binder -> binder.integer(Integer.parseInt(topic.get()))).stream()
                        .filter(line -> line.contains("Seq Scan on "))
                        .findFirst()
                        .ifPresent(line -> findings.add(wholeTable(table, rows, line.strip())));
            }
        }
        return findings;
    }

    private static DiagnosisFinding wholeTable(String table, long rows, String line) {
        return DiagnosisFinding.warn(
                "plans",
                "A frequent statement reads all of the " + rows + " rows of " + table + " (" + line
                        + "): an index is missing, or the statistics are old",
                "ANALYZE " + table + ";");
    }

    @Override
    public Map<String, Boolean> indexes(BoundedQueries queries, String table) throws SQLException {
        return queries.flags(
                INDEXES, binder -> binder.text(queries.sql().tables().qualified(table)));
    }
}
