package dev.postrider.jdbc.diagnosis;

import java.time.Duration;

/**
 * From where on a diagnosis reports a figure. Immutable.
 *
 * @param deadRows the removed rows of a table that are not cleaned up; on MySQL and MariaDB the old versions of rows of the server
 * @param plannedRows the rows of the message table; a smaller one may be read as a whole, which is not slow
 * @param transactionAge the age of the oldest transaction
 */
public record DiagnosisLimits(long deadRows, long plannedRows, Duration transactionAge) {

    public static DiagnosisLimits defaults() {
        return new DiagnosisLimits(50_000, 10_000, Duration.ofMinutes(5));
    }
}
