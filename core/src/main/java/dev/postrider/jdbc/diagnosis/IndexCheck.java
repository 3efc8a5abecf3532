package dev.postrider.jdbc.diagnosis;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the indexes of the tables with those that the schema files create. */
final class IndexCheck {

    private static final Pattern CREATE =
            Pattern.compile("(?s)CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?(\\S+) ON (\\S+) .*");

    private static final Pattern TABLE = Pattern.compile("(?s)CREATE TABLE (?:IF NOT EXISTS )?(\\S+) \\(.*ENGINE.*");

    private static final Pattern KEY = Pattern.compile("(?m)^\\s*((?:UNIQUE )?KEY (\\S+) \\([^)]*\\))");

    /** An index that the schema files create, and the statement that creates it alone. */
    private record SchemaIndex(String name, String table, String statement) {}

    private final List<SchemaIndex> expected;
    private final ServerChecks server;

    /** @param script the statements that create the tables */
    IndexCheck(List<String> script, ServerChecks server) {
        this.expected = new ArrayList<>();
        this.server = server;
        for (String statement : script) {
            Matcher create = CREATE.matcher(statement);
            if (create.matches()) {
                expected.add(new SchemaIndex(create.group(1), create.group(2), statement + ";"));
            }
            Matcher table = TABLE.matcher(statement);
            if (table.matches()) {
                KEY.matcher(statement).results().forEach(key -> expected.add(ofKey(table.group(1), key)));
            }
        }
    }

    private static SchemaIndex ofKey(String table, MatchResult key) {
        return new SchemaIndex(key.group(2), table, "ALTER TABLE " + table + " ADD " + key.group(1) + ";");
    }

    List<DiagnosisFinding> findings(BoundedQueries queries) throws SQLException {
        Map<String, Map<String, Boolean>> found = new HashMap<>();
        List<DiagnosisFinding> findings = new ArrayList<>();
        for (SchemaIndex index : expected) {
            String table = withoutPrefix(queries, index.table());
            Map<String, Boolean> indexes = found.get(table);
            if (indexes == null) {
                indexes = server.indexes(queries, table);
                found.put(table, indexes);
            }
            Boolean valid = indexes.get(index.name().toLowerCase(Locale.ROOT));
            if (valid == null) {
                findings.add(DiagnosisFinding.error(
                        "indexes",
                        "Index " + index.name() + " of " + index.table() + " is missing: scans read the whole table",
                        index.statement()));
            } else if (!valid) {
                findings.add(DiagnosisFinding.error(
                        "indexes",
                        "Index " + index.name() + " of " + index.table()
                                + " is not valid, because its creation was interrupted: no statement uses it",
                        "REINDEX INDEX " + index.name() + ";"));
            }
        }
        return findings;
    }

    private static String withoutPrefix(BoundedQueries queries, String table) {
        String prefix = queries.sql().tables().prefix();
        return table.substring(table.lastIndexOf(prefix) + prefix.length());
    }
}
