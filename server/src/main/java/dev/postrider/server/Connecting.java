package dev.postrider.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.server.cli.CommandFailure;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the connection pool of a command. Opens one plain connection first, whose error is clearer than that of a pool.
 */
final class Connecting {

    /** The limit for a driver that has no limit of its own. */
    private static final Duration LONGEST_PROBE = LimitedLogin.LIMIT.plusSeconds(5);

    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    /**
     * PostgreSQL: unknown role, wrong password, unknown database, no right to connect to it; the driver: a password or
     * TLS is required. Waiting does not fix these.
     */
    private static final Set<String> REFUSED_STATES = Set.of("28000", "28P01", "3D000", "42501", "08004");

    /** MySQL and MariaDB: access denied to the database, to the server, to the host, by a plugin; unknown database. */
    private static final Set<Integer> REFUSED_CODES = Set.of(1044, 1045, 1049, 1130, 1251, 1698);

    /** PostgreSQL: too many connections, starting, shutting down. */
    private static final Set<String> BUSY_STATES = Set.of("53300", "57P01", "57P02", "57P03");

    /** MySQL and MariaDB: too many connections, of the server and of the user; shutting down. */
    private static final Set<Integer> BUSY_CODES = Set.of(1040, 1203, 1226, 1053);

    private final Login login;
    private final int poolSize;

    Connecting(Login login, int poolSize) {
        this.login = login;
        this.poolSize = poolSize;
    }

    /** @throws CommandFailure when the database does not respond, or refuses the login */
    HikariDataSource now() {
        requireDriver();
        try {
            probe();
        } catch (SQLException e) {
            throw failure(e);
        }
        return pool();
    }

    /**
     * Tries again until the database responds or the patience is over. Empty if a shutdown is requested before that.
     */
    Optional<HikariDataSource> within(Duration patience, Shutdown shutdown) {
        requireDriver();
        Logger log = LoggerFactory.getLogger(Connecting.class);
        long deadline = System.nanoTime() + patience.toNanos();
        Duration pause = Duration.ofMillis(500);
        while (true) {
            Duration forProbe = shorter(LONGEST_PROBE, Duration.ofNanos(deadline - System.nanoTime()));
            Optional<SQLException> problem = probe(forProbe, shutdown);
            if (shutdown.isAskedWithin(Duration.ZERO)) {
                return Optional.empty();
            }
            if (problem.isEmpty()) {
                return Optional.of(pool());
            }
            Duration left = Duration.ofNanos(deadline - System.nanoTime());
            if (isRefused(problem.get()) || left.compareTo(pause) < 0) {
                throw failure(problem.get());
            }
            log.warn(
                    "The database {} does not answer; trying again for {} s: {}",
                    login,
                    left.toSeconds(),
                    text(problem.get()));
            if (shutdown.isAskedWithin(pause)) {
                return Optional.empty();
            }
            pause = shorter(pause.multipliedBy(2), LONGEST_PAUSE);
        }
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Returns when the database has responded, the limit is over, or a shutdown is requested. Empty for success. */
    private Optional<SQLException> probe(Duration limit, Shutdown shutdown) {
        CompletableFuture<Optional<SQLException>> answer = new CompletableFuture<>();
        // On its own thread, because a driver may not give up in time.
        Thread thread = new Thread(() -> probe(answer), "postrider-connect");
        thread.setDaemon(true);
        thread.start();
        shutdown.awaitFirst(answer, limit);
        return answer.getNow(Optional.of(new SQLTimeoutException("No answer within " + limit.toMillis() + " ms")));
    }

    private void probe(CompletableFuture<Optional<SQLException>> answer) {
        try {
            probe();
            answer.complete(Optional.empty());
        } catch (SQLException e) {
            answer.complete(Optional.of(e));
        } catch (RuntimeException | Error e) {
            answer.completeExceptionally(e);
        }
    }

    private void requireDriver() {
        Logging.silenceDriver();
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
        try (Connection connection = new LimitedLogin(login).getConnection()) {
            connection.getMetaData();
        }
    }

    static boolean isRefused(SQLException e) {
        return !isBusy(e)
                && (REFUSED_STATES.contains(String.valueOf(e.getSQLState()))
                        || REFUSED_CODES.contains(e.getErrorCode()));
    }

    private static boolean isBusy(SQLException e) {
        return BUSY_STATES.contains(String.valueOf(e.getSQLState())) || BUSY_CODES.contains(e.getErrorCode());
    }

    private CommandFailure failure(SQLException e) {
        String text = text(e);
        SQLException shown = new SQLException(text, e.getSQLState(), e.getErrorCode());
        shown.setStackTrace(e.getStackTrace());
        return CommandFailure.unreachable("The database " + login + problem(e) + text, shown);
    }

    /** The problem, with advice for the user. */
    static String problem(SQLException e) {
        if (isRefused(e)) {
            return " refuses the login; check the user, the password and the name of the database: ";
        }
        return isBusy(e)
                ? " is running, but accepts no connections now: "
                : " cannot be reached; check that it runs and that host and port are right: ";
    }

    /**
     * The redacted message, with the class of the cause. The message of the cause is left out, because drivers quote
     * parts of the URL there.
     */
    private String text(SQLException e) {
        Throwable cause = e.getCause();
        return Redaction.about(login.url(), String.valueOf(e.getMessage()))
                + (cause == null ? "" : " (" + cause.getClass().getSimpleName() + ")");
    }

    private HikariDataSource pool() {
        HikariConfig config = config(login);
        config.setPoolName("postrider");
        config.setMaximumPoolSize(poolSize);
        return new HikariDataSource(config);
    }

    /** Another pool to the same database, for work that must not take connections from the first one. It begins empty. */
    static HikariDataSource beside(Login login, String name, int poolSize) {
        HikariConfig config = config(login);
        config.setPoolName(name);
        config.setMaximumPoolSize(poolSize);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    private static HikariConfig config(Login login) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(new LimitedLogin(login));
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        config.setConnectionTimeout(LimitedLogin.LIMIT.toMillis());
        // The probe has just succeeded. The dispatcher retries later failures.
        config.setInitializationFailTimeout(-1);
        return config;
    }
}
