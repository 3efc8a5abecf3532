package dev.postrider.jdbc.diagnosis;

import java.sql.SQLException;
import java.util.List;

/**
 * One check of a diagnosis. Immutable.
 *
 * @param name its name, in lower case with dashes
 * @param fine the sentence of the finding when nothing is wrong
 */
record DiagnosisCheck(String name, String fine, Examination examination) {

    /** Looks for what is wrong. Returns nothing if all is well. */
    @FunctionalInterface
    interface Examination {
        List<DiagnosisFinding> findings(BoundedQueries queries) throws SQLException;
    }
}
