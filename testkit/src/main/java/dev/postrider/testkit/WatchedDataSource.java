package dev.postrider.testkit;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source that passes every call of a connection or a statement to one method, {@link #on}. A subclass can count, delay or
 * refuse the calls. Thread-safe if the subclass and its target are.
 */
public abstract class WatchedDataSource implements DataSource {

    /** One call of a method of a connection or a statement. */
    public static final class Call {

        private final Connection connection;
        private final Object target;
        private final Method method;
        private final Object @Nullable [] arguments;
        private final @Nullable String sql;

        private Call(
                Connection connection,
                Object target,
                Method method,
                Object @Nullable [] arguments,
                @Nullable String sql) {
            this.connection = connection;
            this.target = target;
            this.method = method;
            this.arguments = arguments;
            this.sql = sql;
        }

        /** The name of the method that is called. */
        public String name() {
            return method.getName();
        }

        /** The target's connection of this call. */
        public Connection connection() {
            return connection;
        }

        /** The SQL with which the statement was prepared; null for a call of a connection, and for a statement without SQL. */
        public @Nullable String sql() {
            return sql;
        }

        public boolean isCommit() {
            return target instanceof Connection && name().equals("commit");
        }

        public boolean isExecution() {
            return target instanceof Statement && name().startsWith("execute");
        }

        /** Makes the call on the target, and returns its result or throws its exception. */
        public Object proceed() throws Throwable {
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    private final DataSource target;

    protected WatchedDataSource(DataSource target) {
        this.target = target;
    }

    /** Handles one call. Usually returns the result of {@link Call#proceed}. */
    protected abstract Object on(Call call) throws Throwable;

    @Override
    public final Connection getConnection() throws SQLException {
        return watched(target.getConnection());
    }

    @Override
    public final Connection getConnection(String user, String password) throws SQLException {
        return watched(target.getConnection(user, password));
    }

    private Connection watched(Connection connection) {
        return proxy(Connection.class, (proxy, method, arguments) -> {
            Object answer = on(new Call(connection, connection, method, arguments, null));
            return answer instanceof Statement statement
                    ? watched(connection, statement, method.getReturnType(), sql(arguments))
                    : answer;
        });
    }

    private <T> T watched(Connection connection, Statement statement, Class<T> type, @Nullable String sql) {
        return proxy(type, (proxy, method, arguments) -> on(new Call(connection, statement, method, arguments, sql)));
    }

    private static @Nullable String sql(Object @Nullable [] arguments) {
        return arguments != null && arguments.length > 0 && arguments[0] instanceof String text ? text : null;
    }

    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return type.cast(
                Proxy.newProxyInstance(WatchedDataSource.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    @Override
    public final PrintWriter getLogWriter() throws SQLException {
        return target.getLogWriter();
    }

    @Override
    public final void setLogWriter(PrintWriter out) throws SQLException {
        target.setLogWriter(out);
    }

    @Override
    public final void setLoginTimeout(int seconds) throws SQLException {
        target.setLoginTimeout(seconds);
    }

    @Override
    public final int getLoginTimeout() throws SQLException {
        return target.getLoginTimeout();
    }

    @Override
    public final Logger getParentLogger() {
        return Logger.getLogger(Logger.GLOBAL_LOGGER_NAME);
    }

    @Override
    public final <T> T unwrap(Class<T> type) throws SQLException {
        return target.unwrap(type);
    }

    @Override
    public final boolean isWrapperFor(Class<?> type) throws SQLException {
        return target.isWrapperFor(type);
    }
}
