package dev.postrider.testkit;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source that counts statements and commits, and does something before or after one of them: dies, or behaves as if the
 * connection had broken there. With it a test can go through every place at which a transaction can be cut off. Thread-safe.
 */
public final class StatementHooks implements DataSource {

    /** What is done at that moment. What it throws comes out of the statement, and the connection is of no use from then on. */
    @FunctionalInterface
    public interface Hook {
        void run() throws Exception;
    }

    private record Armed(int number, boolean before, Hook hook) {}

    private final DataSource target;
    private final AtomicInteger count = new AtomicInteger();
    private final AtomicBoolean fired = new AtomicBoolean();
    private volatile @Nullable Armed armed;

    public StatementHooks(DataSource target) {
        this.target = target;
    }

    /** From now on statements and commits are counted from 1; at the given one, before it is sent or after it was answered. */
    public void at(int number, boolean before, Hook hook) {
        count.set(0);
        fired.set(false);
        armed = new Armed(number, before, hook);
    }

    /** The connection breaks there: before the statement was sent, or before its answer arrived. */
    public void breakAt(int number, boolean before) {
        at(number, before, () -> {
            throw new SQLException("The connection broke", "08006");
        });
    }

    /** Nothing happens any more. Says whether it did. */
    public boolean disarm() {
        armed = null;
        return fired.get();
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
        AtomicBoolean broken = new AtomicBoolean();
        return proxy(Connection.class, (proxy, method, arguments) -> {
            if (broken.get()
                    && !method.getName().equals("close")
                    && !method.getName().equals("isClosed")) {
                throw new SQLException("The connection is broken", "08006");
            }
            if (method.getName().equals("commit")) {
                return counted(connection, broken, () -> call(connection, method, arguments));
            }
            Object answer = call(connection, method, arguments);
            return answer instanceof Statement statement ? hooked(connection, broken, statement, method) : answer;
        });
    }

    private Object hooked(Connection connection, AtomicBoolean broken, Statement statement, Method maker) {
        return proxy(
                maker.getReturnType(),
                (proxy, method, arguments) -> method.getName().startsWith("execute")
                        ? counted(connection, broken, () -> call(statement, method, arguments))
                        : call(statement, method, arguments));
    }

    @FunctionalInterface
    private interface Call {
        Object run() throws Throwable;
    }

    private Object counted(Connection connection, AtomicBoolean broken, Call call) throws Throwable {
        int number = count.incrementAndGet();
        fire(connection, broken, number, true);
        Object answer = call.run();
        fire(connection, broken, number, false);
        return answer;
    }

    private void fire(Connection connection, AtomicBoolean broken, int number, boolean before) throws Exception {
        Armed now = armed;
        if (now != null && now.number() == number && now.before() == before && fired.compareAndSet(false, true)) {
            try {
                now.hook().run();
            } catch (Exception e) {
                broken.set(true);
                if (!connection.getAutoCommit()) {
                    connection.rollback(); // as the server does when it notices
                }
                throw e;
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T proxy(Class<T> type, InvocationHandler handler) {
        return (T) Proxy.newProxyInstance(StatementHooks.class.getClassLoader(), new Class<?>[] {type}, handler);
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
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
