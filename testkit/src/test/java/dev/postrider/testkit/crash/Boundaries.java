package dev.postrider.testkit.crash;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A data source that counts the boundaries between what is asked of the database, and says where each is: before every statement,
 * savepoint and commit, and after the commit. At one of them it stops for ever.
 */
final class Boundaries implements DataSource {

    private static final Set<String> ASKED =
            Set.of("execute", "executeQuery", "executeUpdate", "executeBatch", "setSavepoint", "releaseSavepoint");

    private final DataSource target;
    private final int stopAt;
    private final AtomicInteger passed = new AtomicInteger();
    private final Gate closed = new Gate();

    /** @param stopAt from 1; 0 for nowhere */
    Boundaries(DataSource target, int stopAt) {
        this.target = target;
        this.stopAt = stopAt;
        closed.set(false);
    }

    private void reach(String place) throws InterruptedException {
        int number = passed.incrementAndGet();
        Parent.tell("boundary", number, place.strip().replaceAll("\\s+", "_"));
        if (number == stopAt) {
            closed.pass();
        }
    }

    @Override
    public Connection getConnection() throws SQLException {
        return wrapped(Connection.class, target.getConnection(), "");
    }

    private <T> T wrapped(Class<T> type, T wrapped, String sql) {
        return type.cast(Proxy.newProxyInstance(
                Boundaries.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    String name = method.getName();
                    if (ASKED.contains(name) || name.equals("commit")) {
                        reach(sql.isEmpty() ? name : sql);
                    }
                    Object answer = call(wrapped, method, arguments);
                    if (name.equals("commit")) {
                        reach("committed");
                    }
                    return answer instanceof PreparedStatement statement && arguments[0] instanceof String text
                            ? wrapped(PreparedStatement.class, statement, text)
                            : answer;
                }));
    }

    private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new UnsupportedOperationException("the pool knows both");
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
