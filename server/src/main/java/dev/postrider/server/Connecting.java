package dev.postrider.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the pool of a command. Tries one plain connection first, whose error is clearer than a pool's. */
final class Connecting {

    /** Long enough for a database across a slow network, short enough for a host that swallows packets. */
    private static final int LOGIN_SECONDS = 10;

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    /** PostgreSQL: no such role, wrong password, no such database. Waiting does not mend these. */
    private static final Set<String> REFUSED_STATES = Set.of("28000", "28P01", "3D000");

    /** MySQL and MariaDB: access denied to the database, to the server, no such database. */
    private static final Set<Integer> REFUSED_CODES = Set.of(1044, 1045, 1049);

    private final Login login;
    private final int poolSize;

    Connecting(Login login, int poolSize) {
        this.login = login;
        this.poolSize = poolSize;
    }

    /** @throws CommandFailure when the database does not answer, or refuses */
    HikariDataSource now() {
        requireDriver();
        try {
            probe();
        } catch (SQLException e) {
            throw failure(e);
        }
        return pool();
    }

    /** Tries again until the database answers or the patience is over; empty if the process is told to end before that. */
    Optional<HikariDataSource> within(Duration patience, Shutdown shutdown) {
        requireDriver();
        Logger log = LoggerFactory.getLogger(Connecting.class);
        long deadline = System.nanoTime() + patience.toNanos();
        Duration pause = Duration.ofMillis(500);
        while (true) {
            try {
                probe();
                return Optional.of(pool());
            } catch (SQLException e) {
                Duration left = Duration.ofNanos(deadline - System.nanoTime());
                if (isRefused(e) || left.compareTo(pause) < 0) {
                    throw failure(e);
                }
                log.warn(
                        "The database {} does not answer; trying again for {} s: {}",
                        login,
                        left.toSeconds(),
                        Redaction.line(text(e)));
            }
            if (shutdown.isAskedWithin(pause)) {
                return Optional.empty();
            }
            pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause.multipliedBy(2);
        }
    }

    private void requireDriver() {
        if (!login.url().startsWith("jdbc:")) {
            throw CommandFailure.usage("'" + login + "' is not a JDBC URL: it must look like"
                    + " jdbc:postgresql://host:5432/name or jdbc:mariadb://host:3306/name");
        }
        try {
            DriverManager.getDriver(login.url());
        } catch (SQLException e) {
            throw CommandFailure.usage("There is no driver for " + login + ". " + driverAdvice());
        }
    }

    private String driverAdvice() {
        return login.url().startsWith("jdbc:mysql:")
                ? "Write jdbc:mariadb: in place of jdbc:mysql: (that driver is built in and speaks to MySQL servers too),"
                        + " or put MySQL Connector/J on the CLASSPATH"
                : "PostgreSQL (jdbc:postgresql:) and MariaDB (jdbc:mariadb:) are built in; put any other driver on the"
                        + " CLASSPATH, and check the spelling of the URL";
    }

    private void probe() throws SQLException {
        Properties properties = new Properties();
        if (login.user() != null) {
            properties.setProperty("user", login.user());
        }
        if (login.password() != null) {
            properties.setProperty("password", login.password());
        }
        DriverManager.setLoginTimeout(LOGIN_SECONDS);
        try (Connection connection = DriverManager.getConnection(login.url(), properties)) {
            connection.getMetaData();
        }
    }

    private static boolean isRefused(SQLException e) {
        return REFUSED_STATES.contains(String.valueOf(e.getSQLState())) || REFUSED_CODES.contains(e.getErrorCode());
    }

    private CommandFailure failure(SQLException e) {
        String problem = isRefused(e)
                ? " refuses the login; check the user, the password and the name of the database: "
                : " cannot be reached; check that it runs and that host and port are right: ";
        return CommandFailure.unreachable("The database " + login + problem + text(e), e);
    }

    /** With the kind of the cause, not its words: drivers quote parts of the URL there. */
    private static String text(SQLException e) {
        Throwable cause = e.getCause();
        return e.getMessage() + (cause == null ? "" : " (" + cause.getClass().getSimpleName() + ")");
    }

    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setPoolName("postrider");
        config.setJdbcUrl(login.url());
        config.setUsername(login.user());
        config.setPassword(login.password());
        config.setMaximumPoolSize(poolSize);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        config.setConnectionTimeout(Duration.ofSeconds(LOGIN_SECONDS).toMillis());
        // The probe has just succeeded; what fails from here on is the dispatcher's to retry.
        config.setInitializationFailTimeout(-1);
        return new HikariDataSource(config);
    }
}
