package dev.postrider.jdbc.sql;

import dev.postrider.error.UnusableConnectionException;
import dev.postrider.error.UnusableConnectionException.Problem;
import java.sql.Array;
import java.sql.Blob;
import java.sql.CallableStatement;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.NClob;
import java.sql.PreparedStatement;
import java.sql.SQLClientInfoException;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.SQLXML;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Struct;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A connection as user code sees it inside a unit of work. It works like the connection behind it, but it and its statements refuse to
 * end the transaction: only the unit of work ends it. Savepoints are allowed. It records errors, so that the unit of work can check at
 * the server before the commit whether the transaction is still good. Used by one thread.
 */
public final class GuardedConnection implements Connection {

    @FunctionalInterface
    private interface Call<S> {
        S run() throws SQLException;
    }

    @FunctionalInterface
    private interface Change {
        void run() throws SQLException;
    }

    private final Connection target;
    private final boolean implicitCommits;
    private boolean rolledBack;
    private boolean mayHaveFailed;
    private boolean metConflict;
    private @Nullable SQLException firstFailure;

    /** @param implicitCommits whether the database commits before DDL, which is refused then */
    public GuardedConnection(Connection target, boolean implicitCommits) {
        this.target = target;
        this.implicitCommits = implicitCommits;
    }

    /** Returns the connection behind a guard, and any other connection unchanged. */
    public static Connection target(Connection connection) {
        Connection found = connection;
        while (found instanceof GuardedConnection guarded) {
            found = guarded.target;
        }
        return found;
    }

    /** Rolls the transaction back after a statement of this package failed. {@link #wasRolledBack} is true from then on. */
    void rollBackForConflict() throws SQLException {
        rolledBack = true;
        if (target instanceof GuardedConnection outer) {
            outer.rollBackForConflict();
        } else {
            target.rollback();
        }
    }

    /** Whether the transaction that was begun is rolled back, so that the connection is in another one now. */
    public boolean wasRolledBack() {
        return rolledBack;
    }

    /** Records that a statement failed. User code may have swallowed the error. */
    void failed(SQLException failure) {
        mayHaveFailed = true;
        metConflict |= SqlErrors.isCausedByConflict(failure);
        firstFailure = firstFailure == null ? failure : firstFailure;
        if (target instanceof GuardedConnection outer) {
            outer.failed(failure);
        }
    }

    /** Records that user code has an object of the driver itself. The guard does not see the errors of such an object. */
    void mayHaveFailed() {
        mayHaveFailed = true;
        if (target instanceof GuardedConnection outer) {
            outer.mayHaveFailed();
        }
    }

    /** Whether a statement failed by a deadlock or another conflict. */
    public boolean metConflict() {
        return metConflict;
    }

    /**
     * Checks at the server whether the transaction can be committed. Without a recorded error it sends nothing. On PostgreSQL the first
     * error aborts a transaction, and its commit is silently a rollback.
     *
     * @throws SQLException when the transaction cannot be committed
     */
    public void requireGood() throws SQLException {
        if (!mayHaveFailed) {
            return;
        }
        try (Statement probe = target(target).createStatement()) {
            probe.execute("SELECT 1");
        } catch (SQLException e) {
            if (firstFailure != null) {
                e.addSuppressed(firstFailure);
            }
            throw e;
        }
    }

    /** @throws UnusableConnectionException when the statement ends the transaction */
    void refuseEnd(String sql) {
        if (TransactionEnd.isIn(sql, implicitCommits)) {
            throw refused(sql.strip());
        }
    }

    private <S> S guarded(Class<S> type, Call<S> making) throws SQLException {
        return GuardedStatement.guarded(type, recorded(making), this);
    }

    private <S> S recorded(Call<S> call) throws SQLException {
        try {
            return call.run();
        } catch (SQLException e) {
            failed(e);
            throw e;
        }
    }

    private void record(Change change) throws SQLException {
        try {
            change.run();
        } catch (SQLException e) {
            failed(e);
            throw e;
        }
    }

    private PreparedStatement prepared(String sql, Call<PreparedStatement> making) throws SQLException {
        refuseEnd(sql);
        return guarded(PreparedStatement.class, making);
    }

    private CallableStatement callable(String sql, Call<CallableStatement> making) throws SQLException {
        refuseEnd(sql);
        return guarded(CallableStatement.class, making);
    }

    private static UnusableConnectionException refused(String call) {
        return new UnusableConnectionException(Problem.GUARDED, " (" + call + " was called)", null);
    }

    @Override
    public void commit() {
        throw refused("commit()");
    }

    @Override
    public void rollback() {
        throw refused("rollback()");
    }

    @Override
    public void close() {
        throw refused("close()");
    }

    @Override
    public void abort(Executor executor) {
        throw refused("abort(Executor)");
    }

    /** Refuses true. Autocommit is off already, so false changes nothing. */
    @Override
    public void setAutoCommit(boolean autoCommit) {
        if (autoCommit) {
            throw refused("setAutoCommit(true)");
        }
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        mayHaveFailed();
        return target.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this) || target.isWrapperFor(type);
    }

    @Override
    public void setClientInfo(String name, String value) throws SQLClientInfoException {
        target.setClientInfo(name, value);
    }

    @Override
    public void setClientInfo(Properties properties) throws SQLClientInfoException {
        target.setClientInfo(properties);
    }

    @Override
    public Statement createStatement() throws SQLException {
        return guarded(Statement.class, () -> target.createStatement());
    }

    @Override
    public PreparedStatement prepareStatement(String sql) throws SQLException {
        return prepared(sql, () -> target.prepareStatement(sql));
    }

    @Override
    public CallableStatement prepareCall(String sql) throws SQLException {
        return callable(sql, () -> target.prepareCall(sql));
    }

    @Override
    public String nativeSQL(String sql) throws SQLException {
        return target.nativeSQL(sql);
    }

    @Override
    public boolean getAutoCommit() throws SQLException {
        return target.getAutoCommit();
    }

    @Override
    public boolean isClosed() throws SQLException {
        return target.isClosed();
    }

    @Override
    public DatabaseMetaData getMetaData() throws SQLException {
        return guarded(DatabaseMetaData.class, target::getMetaData);
    }

    @Override
    public void setReadOnly(boolean readOnly) throws SQLException {
        record(() -> target.setReadOnly(readOnly));
    }

    @Override
    public boolean isReadOnly() throws SQLException {
        return target.isReadOnly();
    }

    @Override
    public void setCatalog(String catalog) throws SQLException {
        record(() -> target.setCatalog(catalog));
    }

    @Override
    public String getCatalog() throws SQLException {
        return recorded(() -> target.getCatalog());
    }

    @Override
    public void setTransactionIsolation(int level) throws SQLException {
        record(() -> target.setTransactionIsolation(level));
    }

    @Override
    public int getTransactionIsolation() throws SQLException {
        return recorded(() -> target.getTransactionIsolation());
    }

    @Override
    public @Nullable SQLWarning getWarnings() throws SQLException {
        return target.getWarnings();
    }

    @Override
    public void clearWarnings() throws SQLException {
        target.clearWarnings();
    }

    @Override
    public Statement createStatement(int resultSetType, int resultSetConcurrency) throws SQLException {
        return guarded(Statement.class, () -> target.createStatement(resultSetType, resultSetConcurrency));
    }

    @Override
    public PreparedStatement prepareStatement(String sql, int resultSetType, int resultSetConcurrency)
            throws SQLException {
        return prepared(sql, () -> target.prepareStatement(sql, resultSetType, resultSetConcurrency));
    }

    @Override
    public CallableStatement prepareCall(String sql, int resultSetType, int resultSetConcurrency) throws SQLException {
        return callable(sql, () -> target.prepareCall(sql, resultSetType, resultSetConcurrency));
    }

    @Override
    public Map<String, Class<?>> getTypeMap() throws SQLException {
        return target.getTypeMap();
    }

    @Override
    public void setTypeMap(Map<String, Class<?>> map) throws SQLException {
        target.setTypeMap(map);
    }

    @Override
    public void setHoldability(int holdability) throws SQLException {
        target.setHoldability(holdability);
    }

    @Override
    public int getHoldability() throws SQLException {
        return target.getHoldability();
    }

    @Override
    public Savepoint setSavepoint() throws SQLException {
        return recorded(() -> target.setSavepoint());
    }

    @Override
    public Savepoint setSavepoint(String name) throws SQLException {
        return recorded(() -> target.setSavepoint(name));
    }

    @Override
    public void rollback(Savepoint savepoint) throws SQLException {
        record(() -> target.rollback(savepoint));
    }

    @Override
    public void releaseSavepoint(Savepoint savepoint) throws SQLException {
        record(() -> target.releaseSavepoint(savepoint));
    }

    @Override
    public Statement createStatement(int resultSetType, int resultSetConcurrency, int resultSetHoldability)
            throws SQLException {
        return guarded(
                Statement.class,
                () -> target.createStatement(resultSetType, resultSetConcurrency, resultSetHoldability));
    }

    @Override
    public PreparedStatement prepareStatement(
            String sql, int resultSetType, int resultSetConcurrency, int resultSetHoldability) throws SQLException {
        return prepared(
                sql, () -> target.prepareStatement(sql, resultSetType, resultSetConcurrency, resultSetHoldability));
    }

    @Override
    public CallableStatement prepareCall(
            String sql, int resultSetType, int resultSetConcurrency, int resultSetHoldability) throws SQLException {
        return callable(sql, () -> target.prepareCall(sql, resultSetType, resultSetConcurrency, resultSetHoldability));
    }

    @Override
    public PreparedStatement prepareStatement(String sql, int autoGeneratedKeys) throws SQLException {
        return prepared(sql, () -> target.prepareStatement(sql, autoGeneratedKeys));
    }

    @Override
    public PreparedStatement prepareStatement(String sql, int[] columnIndexes) throws SQLException {
        return prepared(sql, () -> target.prepareStatement(sql, columnIndexes));
    }

    @Override
    public PreparedStatement prepareStatement(String sql, String[] columnNames) throws SQLException {
        return prepared(sql, () -> target.prepareStatement(sql, columnNames));
    }

    @Override
    public Clob createClob() throws SQLException {
        return target.createClob();
    }

    @Override
    public Blob createBlob() throws SQLException {
        return target.createBlob();
    }

    @Override
    public NClob createNClob() throws SQLException {
        return target.createNClob();
    }

    @Override
    public SQLXML createSQLXML() throws SQLException {
        return target.createSQLXML();
    }

    @Override
    public boolean isValid(int timeout) throws SQLException {
        return recorded(() -> target.isValid(timeout));
    }

    @Override
    public String getClientInfo(String name) throws SQLException {
        return target.getClientInfo(name);
    }

    @Override
    public Properties getClientInfo() throws SQLException {
        return target.getClientInfo();
    }

    @Override
    public Array createArrayOf(String typeName, Object[] elements) throws SQLException {
        return target.createArrayOf(typeName, elements);
    }

    @Override
    public Struct createStruct(String typeName, Object[] attributes) throws SQLException {
        return target.createStruct(typeName, attributes);
    }

    @Override
    public void setSchema(String schema) throws SQLException {
        record(() -> target.setSchema(schema));
    }

    @Override
    public String getSchema() throws SQLException {
        return recorded(() -> target.getSchema());
    }

    @Override
    public void setNetworkTimeout(Executor executor, int milliseconds) throws SQLException {
        target.setNetworkTimeout(executor, milliseconds);
    }

    @Override
    public int getNetworkTimeout() throws SQLException {
        return target.getNetworkTimeout();
    }
}
