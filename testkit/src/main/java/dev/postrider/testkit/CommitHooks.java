package dev.postrider.testkit;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A data source that does something just before or just after each commit, to see what others make of the time between: after the
 * last statement of a transaction, or after the database has decided and before the application has heard of it. What a hook throws
 * comes out of the commit. Thread-safe.
 */
public final class CommitHooks implements DataSource {

    /** What is done at that moment. */
    @FunctionalInterface
    public interface Hook {
        void run() throws Exception;
    }

    private static final Hook NOTHING = () -> {};

    private final DataSource target;
    private volatile Hook before = NOTHING;
    private volatile Hook after = NOTHING;

    public CommitHooks(DataSource target) {
        this.target = target;
    }

    /** From now on before each commit. */
    public void beforeCommit(Hook hook) {
        before = hook;
    }

    /** From now on after each commit, before it is answered. */
    public void afterCommit(Hook hook) {
        after = hook;
    }

    /** From now on commits are nothing but commits. */
    public void clear() {
        before = NOTHING;
        after = NOTHING;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return hooked(target.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return hooked(target.getConnection(user, password));
    }

    private Connection hooked(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                CommitHooks.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    boolean isCommit = method.getName().equals("commit");
                    if (isCommit) {
                        before.run();
                    }
                    Object answer = call(connection, method, arguments);
                    if (isCommit) {
                        after.run();
                    }
                    return answer;
                });
    }

    private static Object call(Connection connection, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(connection, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return target.getLogWriter();
    }

    @Override
    public void setLogWriter(PrintWriter out) throws SQLException {
        target.setLogWriter(out);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        target.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return target.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger(Logger.GLOBAL_LOGGER_NAME);
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return target.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return target.isWrapperFor(type);
    }
}
