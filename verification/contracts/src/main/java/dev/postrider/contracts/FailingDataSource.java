package dev.postrider.contracts;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;

/** A data source that fails after a given number of connections. Thread-safe. */
final class FailingDataSource implements DataSource {

    private final DataSource source;
    private final AtomicInteger left = new AtomicInteger(Integer.MAX_VALUE);

    FailingDataSource(DataSource source) {
        this.source = source;
    }

    /** @param connections the number of connections that still succeed */
    void failAfter(int connections) {
        left.set(connections);
    }

    @Override
    public Connection getConnection() throws SQLException {
        if (left.getAndDecrement() <= 0) {
            throw new SQLException("The test allows no more connections", "08001");
        }
        return source.getConnection();
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return source.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        source.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        source.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return source.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() throws SQLFeatureNotSupportedException {
        throw new SQLFeatureNotSupportedException();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return source.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return source.isWrapperFor(type);
    }
}
