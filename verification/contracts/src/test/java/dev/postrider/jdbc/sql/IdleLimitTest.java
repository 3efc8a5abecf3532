package dev.postrider.jdbc.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.contracts.Sql;
import dev.postrider.error.StoreUnavailableException;
import dev.postrider.error.TransactionConflictException;
import dev.postrider.testkit.database.Database;
import dev.postrider.testkit.database.Databases;
import dev.postrider.testkit.database.Engine;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A transaction in which nothing is done any more, as if its process were frozen, is ended by the server. */
final class IdleLimitTest {

    /** How long a transaction may be idle: long enough for a busy machine between two statements. */
    private static final Duration IDLE = Duration.ofSeconds(3);

    /** A statement waits twice as long for the server as the server for a statement. */
    private static final Duration TIMEOUT = IDLE.multipliedBy(2);

    private static final int PATIENCE_SECONDS = 30;
    private static final Duration HOUR = Duration.ofHours(1);

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_18", "MYSQL_8_0", "MARIADB_11_4"})
    void locksOfATransactionThatStandsStillAreGivenUp(Engine engine) throws SQLException {
        DataSource dataSource = withRow(engine).dataSource();
        Sessions sessions = sessions(dataSource, TIMEOUT);

        assertThatThrownBy(() -> sessions.transaction("stand still", frozen -> lockBehind(frozen, dataSource)))
                .isInstanceOf(StoreUnavailableException.class);
    }

    /** PostgreSQL is told by the statement that locks what is handled. */
    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void locksOfAHandlerThatStandsStillAreGivenUp(Engine engine) throws SQLException {
        DataSource dataSource = withRow(engine).dataSource();
        Sessions sessions = sessions(dataSource, TIMEOUT);

        assertThatThrownBy(() -> sessions.lend(IDLE, frozen -> lockBehind(frozen, dataSource)))
                .isInstanceOfSatisfying(
                        SQLException.class,
                        e -> assertThat(SqlErrors.isUnavailable(e)).isTrue());
    }

    @ParameterizedTest
    @EnumSource(names = {"POSTGRESQL_18", "MYSQL_8_0", "MARIADB_11_4"})
    void sessionIsLeftAsItWas(Engine engine) throws SQLException {
        try (HikariDataSource pool = pool(withRow(engine), "")) {
            String before = limit(pool, engine);
            Sessions sessions = sessions(pool, TIMEOUT);

            String within = sessions.transaction("look", connection -> limit(connection, engine));
            assertThat(within)
                    .isEqualTo(engine == Engine.POSTGRESQL_18 ? "3s" : "3")
                    .isNotEqualTo(before);

            assertThat(limit(pool, engine)).isEqualTo(before);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"MYSQL_8_0", "MARIADB_11_4"})
    void limitOfTheDataSourceIsKeptWhereItIsStricter(Engine engine) throws SQLException {
        try (HikariDataSource pool = pool(withRow(engine), "sessionVariables=" + variable(engine) + "=30")) {
            Sessions sessions = sessions(pool, HOUR);

            String within = sessions.transaction("look", connection -> limit(connection, engine));

            assertThat(within).isEqualTo("30");
        }
    }

    /** The server does not notice that the client of a waiting session closed the connection. */
    @Test
    void lockedTableLeavesOneSessionAndNotOneForEachAttempt() throws SQLException {
        DataSource dataSource = withRow(Engine.POSTGRESQL_18).dataSource();
        Sessions sessions = sessions(dataSource, Duration.ofMillis(300));
        try (Connection foreign = dataSource.getConnection();
                Statement lock = foreign.createStatement()) {
            foreign.setAutoCommit(false);
            lock.execute("LOCK TABLE thing IN SHARE MODE");

            for (int attempt = 0; attempt < 4; attempt++) {
                assertThatThrownBy(() -> sessions.statement("insert", IdleLimitTest::insert))
                        .isInstanceOfAny(StoreUnavailableException.class, TransactionConflictException.class);
            }
            assertThatThrownBy(() -> sessions.limited("insert", IdleLimitTest::insert))
                    .isInstanceOf(TransactionConflictException.class);
            assertThatThrownBy(() -> sessions.inCallersThread().change("insert", IdleLimitTest::insert))
                    .isInstanceOf(TransactionConflictException.class);

            try (ResultSet waiting = lock.executeQuery("SELECT count(*) FROM pg_stat_activity"
                    + " WHERE datname = current_database() AND wait_event_type = 'Lock'")) {
                waiting.next();
                assertThat(waiting.getInt(1)).isEqualTo(1);
            }
            foreign.rollback();
        }
        assertThat(sessions.statement("insert", IdleLimitTest::insert)).isEqualTo(1);
    }

    private static int insert(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate("INSERT INTO thing SELECT max(n) + 1 FROM thing");
        }
    }

    /** Another session gets the row while this transaction is idle; then the transaction is over, and gets that error. */
    private static boolean lockBehind(Connection frozen, DataSource dataSource) throws SQLException {
        lock(frozen);
        try (Connection other = dataSource.getConnection()) {
            other.setAutoCommit(false);
            lock(other);
            other.rollback();
        } catch (SQLException e) {
            throw new AssertionError("No other session gets the row", e);
        }
        lock(frozen);
        return true;
    }

    private static void lock(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(PATIENCE_SECONDS);
            try (ResultSet row = statement.executeQuery("SELECT n FROM thing WHERE n = 1 FOR UPDATE")) {
                assertThat(row.next()).isTrue();
            }
        }
    }

    private static Database withRow(Engine engine) throws SQLException {
        Database database = Databases.assumeStarted(engine).createDatabase("idle");
        Sql.execute(database.dataSource(), "CREATE TABLE thing (n INTEGER PRIMARY KEY)");
        Sql.execute(database.dataSource(), "INSERT INTO thing VALUES (1)");
        return database;
    }

    private static HikariDataSource pool(Database database, String property) {
        String url = database.jdbcUrl();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url + (url.contains("?") ? "&" : "?") + property);
        config.setUsername(database.user());
        config.setPassword(database.password());
        config.setMaximumPoolSize(1);
        return new HikariDataSource(config);
    }

    private static Sessions sessions(DataSource dataSource, Duration networkTimeout) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            DatabaseKind kind = DatabaseKind.of(connection.getMetaData());
            return new Sessions(dataSource, kind, ConnectionSettings.of(connection, kind), networkTimeout);
        }
    }

    private static String limit(DataSource dataSource, Engine engine) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return limit(connection, engine);
        }
    }

    private static String limit(Connection connection, Engine engine) throws SQLException {
        String show = engine == Engine.POSTGRESQL_18
                ? "SHOW idle_in_transaction_session_timeout"
                : "SELECT @@" + variable(engine);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(show)) {
            row.next();
            return row.getString(1);
        }
    }

    private static String variable(Engine engine) {
        return engine == Engine.MYSQL_8_0 ? "wait_timeout" : "idle_transaction_timeout";
    }
}
