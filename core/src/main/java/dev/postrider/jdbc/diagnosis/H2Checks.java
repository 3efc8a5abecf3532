package dev.postrider.jdbc.diagnosis;

import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** The checks of H2, which is for development and tests. Immutable, thread-safe. */
final class H2Checks implements ServerChecks {

    private static final String INDEXES = """
            SELECT INDEX_NAME, TRUE FROM INFORMATION_SCHEMA.INDEXES
            WHERE REGEXP_LIKE(TABLE_NAME, '^\\Q' || ? || '\\E$', 'i')
            LIMIT 1000
            """;

    @Override
    public List<DiagnosisFinding> settings(BoundedQueries queries) {
        return List.of();
    }

    @Override
    public List<DiagnosisFinding> bloat(BoundedQueries queries) {
        return List.of();
    }

    @Override
    public List<DiagnosisFinding> plans(BoundedQueries queries) {
        return List.of();
    }

    @Override
    public Map<String, Boolean> indexes(BoundedQueries queries, String table) throws SQLException {
        return queries.flags(
                INDEXES, binder -> binder.text(queries.sql().tables().bare(table)));
    }
}
