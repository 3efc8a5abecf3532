package dev.postrider.jdbc.diagnosis;

import dev.postrider.jdbc.sql.DatabaseKind;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/** The checks that differ between databases. */
interface ServerChecks {

    /** Looks for settings with which the server may lose commits, or cannot clean up. */
    List<DiagnosisFinding> settings(BoundedQueries queries) throws SQLException;

    /** Looks for removed rows that are not cleaned up. */
    List<DiagnosisFinding> bloat(BoundedQueries queries) throws SQLException;

    /** Looks for frequent statements that read a whole table. */
    List<DiagnosisFinding> plans(BoundedQueries queries) throws SQLException;

    /**
     * Returns the names of the indexes of a table, in lower case, each with whether the database uses it.
     *
     * @param table the name without the prefix
     */
    Map<String, Boolean> indexes(BoundedQueries queries, String table) throws SQLException;

    static ServerChecks of(DatabaseKind kind, DiagnosisLimits limits) {
        return switch (kind) {
            case POSTGRESQL -> new PostgresChecks(limits);
            case MYSQL, MARIADB -> new InnoDbChecks(limits);
            case H2 -> new H2Checks();
        };
    }
}
