package dev.postrider.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said about a connection that could not be opened, by the state and the code that servers and drivers give. */
final class ConnectingTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            28P01 |    0 | PostgreSQL: wrong password
            28000 |    0 | PostgreSQL: no such role
            3D000 |    0 | PostgreSQL: no such database
            42501 |    0 | PostgreSQL: no right to connect to the database
            08004 |    0 | PostgreSQL's driver: no password was given
            28000 | 1045 | MySQL and MariaDB: wrong password
            42000 | 1049 | MySQL and MariaDB: no such database
            HY000 | 1130 | MySQL and MariaDB: not from this host
            """)
    void refusedLoginIsNotTriedAgain(String state, int code, String situation) {
        SQLException refused = new SQLException("no", state, code);

        assertThat(Connecting.isRefused(refused)).as(situation).isTrue();
        assertThat(Connecting.problem(refused)).as(situation).contains("refuses the login");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            53300 |    0 | PostgreSQL: too many connections
            57P03 |    0 | PostgreSQL: starting
            08004 | 1040 | MySQL and MariaDB: too many connections
            """)
    void serverWithoutRoomIsTriedAgain(String state, int code, String situation) {
        SQLException busy = new SQLException("no", state, code);

        assertThat(Connecting.isRefused(busy)).as(situation).isFalse();
        assertThat(Connecting.problem(busy)).as(situation).contains("accepts no connections now");
    }

    @ParameterizedTest
    @CsvSource({"08001, 0", "08006, 0", "08000, 0", "HYT00, 0", ", 0"})
    void anythingElseIsAServerThatCannotBeReached(String state, int code) {
        SQLException unreachable = new SQLException("no", state, code);

        assertThat(Connecting.isRefused(unreachable)).isFalse();
        assertThat(Connecting.problem(unreachable)).contains("cannot be reached");
    }
}
