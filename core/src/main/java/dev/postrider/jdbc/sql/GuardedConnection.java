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
 * end the transaction: only the unit of work ends it. Savepoints are allowed. It proves the transaction after a text that could have
 * ended it. It records errors, so that the unit of work can check at the server before the commit whether the transaction is still good.
 * Used by one thread.
 */
public final class GuardedConnection implements Connection {

    @FunctionalInterface
    private interface Call<S> {
        S run() throws SQLException;
    }

    @FunctionalInterface
    private interface SessionChange {
        void run() throws SQLException;
    }

    private final Connection target;
    private final TransactionEnd.ImplicitCommits implicitCommits;
    private final TransactionProof proof;
    private boolean rolledBack;
    private boolean mayHaveFailed;
    private boolean metConflict;
    private @Nullable SQLException firstFailure;
    private @Nullable UnusableConnectionException refusal;

    /** Returns the guard of a connection for user code. */
    public static GuardedConnection of(Connection connection, DatabaseKind kind) {
        return new GuardedConnection(connection, kind.implicitCommits(), kind.transactionProof());
    }

    /**
     * @param implicitCommits the statements before which the database commits; they are refused
     * @param proof proves the transaction; the guard of a guarded connection uses the proof of that one
     */
    GuardedConnection(Connection target, TransactionEnd.ImplicitCommits implicitCommits, TransactionProof proof) {
        this.target = target;
        this.implicitCommits = implicitCommits;
        this.proof = target instanceof GuardedConnection outer ? outer.proof : proof;
    }

    /**
     * Returns the connection behind a guard, and any other connection unchanged.
     *
     * @throws UnusableConnectionException if user code has ended the transaction of the guard
     */
    public static Connection target(Connection connection) {
        Connection found = connection;
        while (found instanceof GuardedConnection guarded) {
            guarded.proof.requireNotEnded();
            found = guarded.target;
        }
        return found;
    }

    private Connection own() {
        return target instanceof GuardedConnection outer ? outer.own() : target;
    }

    /** Rolls the transaction back after a statement of this package failed. {@link #wasRolledBack} is true from then on. */
    void rollBackForConflict() throws SQLException {
        rolledBack = true;
        if (target instanceof GuardedConnection outer) {
            outer.rollBackForConflict();
        } else {
            proof.rolledBack();
            target.rollback();
        }
    }

    /** Whether the transaction that was begun is rolled back, so that the connection is in another one now. */
    public boolean wasRolledBack() {
        return rolledBack || (metConflict && proof.isLostByConflict());
    }

    /** Records that a statement failed. User code may have swallowed the error. */
    void failed(SQLException failure) {
        mayHaveFailed = true;
        metConflict |= SqlErrors.rollsBackTransaction(failure);
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

    /** Records that user code gets an object of the driver that leads to the driver's connection. */
    void unwrapped() throws SQLException {
        mayHaveFailed();
        proof.requireNotEnded();
        watch(proof::watch);
    }

    /** Whether a statement failed by a deadlock, or by another error that rolls back the whole transaction. */
    public boolean metConflict() {
        return metConflict;
    }

    public TransactionProof proof() {
        return proof;
    }

    /** @throws UnusableConnectionException if user code has ended the transaction, or a call of user code was refused */
    public void requireNotEnded() {
        proof.requireNotEnded();
        if (refusal != null) {
            throw refusal;
        }
    }

    /** Whether the transaction can be committed without a question to the server: no error was recorded, and no proof is due. */
    public boolean isCertainlyGood() {
        return !mayHaveFailed
                && !wasRolledBack()
                && refusal == null
                && !proof.isDue()
                && proof.ended() == null
                && !(target instanceof GuardedConnection);
    }

    /**
     * Checks at the server whether the transaction can be committed. Without a recorded error it sends nothing. On PostgreSQL the first
     * error aborts a transaction, and its commit is silently a rollback.
     *
     * @throws SQLException when the transaction cannot be committed
     */
    public void requireGood() throws SQLException {
        try {
            if (proof.isDue()) {
                proof.prove(own());
            } else if (mayHaveFailed) {
                try (Statement probe = own().createStatement()) {
                    probe.execute("SELECT 1");
                }
            }
        } catch (SQLException e) {
            if (firstFailure != null && firstFailure != e) {
                e.addSuppressed(firstFailure);
            }
            throw e;
        }
    }

    /** Runs a proof that is due. */
    public void requireProved() throws SQLException {
        if (!wasRolledBack()) {
            proof.prove(own());
        }
    }

    /**
     * Judges a text of user code.
     *
     * @return whether the text could end the transaction, so that it runs between {@link #beforeUnclear} and {@link #afterUnclear}
     * @throws UnusableConnectionException when the text certainly ends the transaction
     */
    boolean isUnclear(String sql) {
        TransactionEnd.Effect effect = TransactionEnd.of(sql, implicitCommits);
        if (effect == TransactionEnd.Effect.END) {
            throw remember(refused(sql.strip()));
        }
        return effect == TransactionEnd.Effect.UNCLEAR;
    }

    /** @throws UnusableConnectionException if user code has ended the transaction */
    void requireUsable() {
        proof.requireNotEnded();
    }

    void beforeUnclear() throws SQLException {
        if (!wasRolledBack()) {
            watch(proof::begin);
        }
    }

    @FunctionalInterface
    private interface Watch {
        void on(Connection connection) throws SQLException;
    }

    private void watch(Watch watch) throws SQLException {
        try {
            watch.on(own());
        } catch (SQLException e) {
            failed(e);
            throw e;
        }
    }

    /**
     * Proves the transaction after a text that could have ended it. If the server does not answer, the proof stays due until the commit.
     *
     * @param failure the error of the text; null if it succeeded
     * @throws UnusableConnectionException if the text has ended the transaction
     */
    void afterUnclear(@Nullable SQLException failure) {
        boolean hasRolledBack = failure != null && SqlErrors.rollsBackTransaction(failure);
        if (hasRolledBack && implicitCommits != TransactionEnd.ImplicitCommits.NONE) {
            proof.rolledBack(); // PostgreSQL only aborts the transaction
            return;
        }
        try {
            proof.prove(own());
        } catch (UnusableConnectionException e) {
            if (failure != null) {
                e.addSuppressed(failure);
            }
            throw e;
        } catch (SQLException e) {
            failed(e);
        }
    }

    private <S> S guarded(Class<S> type, Call<S> making) throws SQLException {
        return GuardedStatement.guarded(type, recorded(making), this, false);
    }

    private <S> S recorded(Call<S> call) throws SQLException {
        requireUsable();
        try {
            return call.run();
        } catch (SQLException e) {
            failed(e);
            throw e;
        }
    }

    private void record(SessionChange change) throws SQLException {
        requireUsable();
        try {
            change.run();
        } catch (SQLException e) {
            failed(e);
            throw e;
        }
    }

    private PreparedStatement prepared(String sql, Call<PreparedStatement> making) throws SQLException {
        boolean unclear = isUnclear(sql);
        return GuardedStatement.guarded(PreparedStatement.class, recorded(making), this, unclear);
    }

    private CallableStatement callable(String sql, Call<CallableStatement> making) throws SQLException {
        boolean unclear = isUnclear(sql);
        return GuardedStatement.guarded(CallableStatement.class, recorded(making), this, unclear);
    }

    private static UnusableConnectionException refused(String call) {
        return new UnusableConnectionException(Problem.GUARDED, " (" + call + " was called)", null);
    }

    /** If user code swallows this, the commit of the unit of work fails with the same error. */
    private UnusableConnectionException remember(UnusableConnectionException refused) {
        refusal = refusal == null ? refused : refusal;
        return refused;
    }

    @Override
    public void commit() {
        throw remember(refused("commit()"));
    }

    @Override
    public void rollback() {
        throw remember(refused("rollback()"));
    }

    /** A refused close is not remembered: libraries close what they get, and it says nothing about the work. */
    @Override
    public void close() {
        throw refused("close()");
    }

    @Override
    public void abort(Executor executor) {
        throw remember(refused("abort(Executor)"));
    }

    /** Refuses true. Autocommit is off already, so false changes nothing. */
    @Override
    public void setAutoCommit(boolean autoCommit) {
        if (autoCommit) {
            throw remember(refused("setAutoCommit(true)"));
        }
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        if (type.isInstance(this)) {
            return type.cast(this);
        }
        unwrapped();
        return target.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(this) || target.isWrapperFor(type);
    }

    @Override
    public void setClientInfo(String name, String value) throws SQLClientInfoException {
        try {
            target.setClientInfo(name, value);
        } catch (SQLClientInfoException e) {
            failed(e);
            throw e;
        }
    }

    @Override
    public void setClientInfo(Properties properties) throws SQLClientInfoException {
        try {
            target.setClientInfo(properties);
        } catch (SQLClientInfoException e) {
            failed(e);
            throw e;
        }
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

    /** Refused on H2, whose driver commits before it. */
    @Override
    public void setTransactionIsolation(int level) throws SQLException {
        if (implicitCommits == TransactionEnd.ImplicitCommits.DDL_AND_TEMPORARY_TABLES) {
            throw remember(refused("setTransactionIsolation(int)"));
        }
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
        return guarded(Clob.class, () -> target.createClob());
    }

    @Override
    public Blob createBlob() throws SQLException {
        return guarded(Blob.class, () -> target.createBlob());
    }

    @Override
    public NClob createNClob() throws SQLException {
        return guarded(NClob.class, () -> target.createNClob());
    }

    @Override
    public SQLXML createSQLXML() throws SQLException {
        return guarded(SQLXML.class, () -> target.createSQLXML());
    }

    @Override
    public boolean isValid(int timeout) throws SQLException {
        boolean valid = recorded(() -> target.isValid(timeout));
        if (!valid) {
            mayHaveFailed();
        }
        return valid;
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
        return guarded(Array.class, () -> target.createArrayOf(typeName, elements));
    }

    @Override
    public Struct createStruct(String typeName, Object[] attributes) throws SQLException {
        return guarded(Struct.class, () -> target.createStruct(typeName, attributes));
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
