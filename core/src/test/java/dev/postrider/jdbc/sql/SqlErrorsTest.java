package dev.postrider.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.postrider.error.PostriderException;
import dev.postrider.error.SchemaMismatchException;
import dev.postrider.error.StoreException;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.error.UnusableConnectionException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlErrorsTest {

    @ParameterizedTest
    @CsvSource({
        "40001, 0",
        "40P01, 0",
        "55P03, 0", // PostgreSQL: serialization, deadlock, lock not available
        "40001, 1213",
        "41000, 1205",
        "HY000, 1205",
        "HY000, 1020",
        "HY000, 3572", // MySQL and MariaDB
        "HYT00, 50200",
        "40001, 40001" // H2
    })
    void conflictMeansThatTheWholeTransactionIsRunAgain(String state, int code) {
        assertThat(inTransaction(state, code)).isInstanceOf(TransactionConflictException.class);
    }

    @ParameterizedTest
    @CsvSource({
        "08006, 0",
        "08001, 0",
        "08S01, 0",
        "57P01, 0",
        "57P02, 0",
        "57P03, 0",
        "53300, 0",
        "53100, 0",
        "25006, 0",
        "08004, 1040",
        "HY000, 1290",
        "HY000, 1836",
        "HY000, 2013",
        "70100, 1927",
        "90121, 90121"
    })
    void databaseThatIsAwayIsSaidToBe(String state, int code) {
        assertThat(own(state, code)).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void poolWithoutAConnectionToGiveIsADatabaseThatIsAway() {
        assertThat(SqlErrors.translate("x", new SQLTransientConnectionException("timeout after 30000 ms")))
                .isInstanceOf(StoreUnavailableException.class);
    }

    @ParameterizedTest
    @CsvSource({"42P01, 0", "42S02, 1146", "3F000, 0", "42000, 1049", "90079, 90079", "42703, 0", "42S22, 1054"})
    void missingTableNamesTheFix(String state, int code) {
        assertThat(own(state, code))
                .isInstanceOf(SchemaMismatchException.class)
                .hasMessageContaining("postrider migrate");
    }

    @ParameterizedTest
    @CsvSource({"25P02, 0, ABORTED", "25006, 0, READ_ONLY", "25006, 1792, READ_ONLY", "HY000, 1290, READ_ONLY"})
    void transactionThatCannotBeWrittenIsRefusedAsSuch(
            String state, int code, UnusableConnectionException.Problem problem) {
        assertThat(inTransaction(state, code))
                .isInstanceOfSatisfying(
                        UnusableConnectionException.class,
                        e -> assertThat(e.problem()).isEqualTo(problem));
    }

    @ParameterizedTest
    @CsvSource({"23505, 0", "23000, 1062", "23514, 0", "57014, 0", "22001, 1406", "HY000, 1366"})
    void anythingElseIsAnErrorOfItsOwn(String state, int code) {
        PostriderException translated = own(state, code);
        assertThat(translated).isExactlyInstanceOf(StoreException.class).hasMessageContaining("Could not try");
    }

    @Test
    void errorWithoutAStateIsNoReasonToFail() {
        assertThat(SqlErrors.translate("try", new SQLException("odd"))).isExactlyInstanceOf(StoreException.class);
    }

    private static PostriderException own(String state, int code) {
        return SqlErrors.translate("try", new SQLException("text that says nothing", state, code));
    }

    private static PostriderException inTransaction(String state, int code) {
        return SqlErrors.translateInTransaction("try", new SQLException("text that says nothing", state, code));
    }
}
