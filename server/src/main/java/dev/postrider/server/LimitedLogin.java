package dev.postrider.server;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens connections, with a time limit for the login. The parameters of the URL have priority. Immutable, thread-safe.
 *
 * <p>A server, or a proxy in front of it, may accept a connection and never respond. The drivers of MariaDB and MySQL
 * give up after the login timeout of {@link DriverManager}. The driver of PostgreSQL ignores that timeout and needs its
 * own properties.
 */
final class LimitedLogin implements DataSource {

    /** Long enough for a database across a slow network. */
    static final Duration LIMIT = Duration.ofSeconds(10);

    /** Ends the driver's own thread, which continues to read after the login was given up. */
    private static final Duration READ_LIMIT = LIMIT.plusSeconds(5);

    private static final String POSTGRESQL = "jdbc:postgresql:";

    private final Login login;

    LimitedLogin(Login login) {
        this.login = login;
    }

    @Override
    public Connection getConnection() throws SQLException {
        DriverManager.setLoginTimeout((int) LIMIT.toSeconds());
        Connection connection = DriverManager.getConnection(login.url(), properties());
        if (login.url().startsWith(POSTGRESQL)) {
            endReadLimit(connection);
        }
        return connection;
    }

    private Properties properties() {
        Properties properties = new Properties();
        set(properties, "user", login.user());
        set(properties, "password", login.password());
        if (login.url().startsWith(POSTGRESQL)) {
            set(properties, "loginTimeout", Long.toString(LIMIT.toSeconds()));
            set(properties, "socketTimeout", Long.toString(READ_LIMIT.toSeconds()));
        }
        return properties;
    }

    private static void set(Properties properties, String name, @Nullable String value) {
        if (value != null) {
            properties.setProperty(name, value);
        }
    }

    /**
     * Removes the read limit after the login, because a migration may wait longer for a response. A limit from the URL
     * stays.
     */
    private static void endReadLimit(Connection connection) throws SQLException {
        try {
            if (connection.getNetworkTimeout() == READ_LIMIT.toMillis()) {
                connection.setNetworkTimeout(Runnable::run, 0);
            }
        } catch (SQLException | RuntimeException e) {
            connection.close();
            throw e;
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException("getConnection(user, password)");
    }

    @Override
    public int getLoginTimeout() {
        return (int) LIMIT.toSeconds();
    }

    /** Ignored: a pool sets its own limit here, but this limit stays. */
    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        throw new SQLFeatureNotSupportedException("setLogWriter");
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException("getParentLogger");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("Not a wrapper for " + type.getName());
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
