package dev.postrider.benchmarks.contender;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source that returns the connection of the calling thread's transaction, as Spring's transaction-aware data source does. It
 * is for libraries that need a data source and cannot be given a connection. Outside of a transaction it returns connections of the
 * pool.
 */
final class Transactions implements DataSource {

    private static final ThreadLocal<@Nullable Connection> CURRENT = new ThreadLocal<>();

    private final DataSource pool;

    Transactions(DataSource pool) {
        this.pool = pool;
    }

    @FunctionalInterface
    interface Work {
        void run(Connection connection) throws Exception;
    }

    void run(Work work) throws Exception {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            CURRENT.set(unclosable(connection));
            try {
                work.run(connection);
            } finally {
                CURRENT.remove();
            }
            connection.commit();
            connection.setAutoCommit(true);
        }
    }

    private static Connection unclosable(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Transactions.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        return null;
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() == null ? e : e.getCause();
                    }
                });
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection bound = CURRENT.get();
        return bound == null ? pool.getConnection() : bound;
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return pool.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
        pool.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        pool.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return pool.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return pool.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return pool.isWrapperFor(type);
    }
}
