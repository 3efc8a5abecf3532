package dev.postrider.benchmarks.database;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.LongAdder;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Counts the statements that a system sends through its connections, and records the time of a thread's last commit. It costs about a
 * microsecond per call, so throughput is measured without it.
 */
public final class Probe implements DataSource {

    private static final ThreadLocal<Commit> LAST_COMMIT = ThreadLocal.withInitial(() -> new Commit(0, 0));

    /** When a commit was sent and when it was confirmed, by {@link System#nanoTime}. */
    public record Commit(long sent, long confirmed) {}

    private final DataSource target;
    private final LongAdder statements = new LongAdder();

    public Probe(DataSource target) {
        this.target = target;
    }

    /** The number of executed statements. Each statement of a batch counts; commits do not. */
    public long statements() {
        return statements.sum();
    }

    /** The calling thread's last commit through any probe. */
    public static Commit lastCommit() {
        return LAST_COMMIT.get();
    }

    @Override
    public Connection getConnection() throws SQLException {
        return watched(Connection.class, target.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return watched(Connection.class, target.getConnection(user, password));
    }

    private <T> T watched(Class<T> type, T watched) {
        InvocationHandler handler = (proxy, method, arguments) -> call(watched, method, arguments);
        return type.cast(Proxy.newProxyInstance(Probe.class.getClassLoader(), new Class<?>[] {type}, handler));
    }

    private @Nullable Object call(Object watched, Method method, Object @Nullable [] arguments) throws Throwable {
        boolean commits = watched instanceof Connection && method.getName().equals("commit");
        long sent = commits ? System.nanoTime() : 0;
        Object answer;
        try {
            answer = method.invoke(watched, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() == null ? e : e.getCause();
        }
        if (commits) {
            LAST_COMMIT.set(new Commit(sent, System.nanoTime()));
        }
        return answer == null ? null : note(watched, method, answer);
    }

    private Object note(Object watched, Method method, Object answer) {
        if (watched instanceof Statement && method.getName().startsWith("execute")) {
            statements.add(answer instanceof int[] batch ? batch.length : 1);
            return answer;
        }
        if (answer instanceof PreparedStatement statement) {
            return watched(PreparedStatement.class, statement);
        }
        return answer instanceof Statement statement && watched instanceof Connection
                ? watched(Statement.class, statement)
                : answer;
    }

    @Override
    public @Nullable PrintWriter getLogWriter() throws SQLException {
        return target.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) throws SQLException {
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
        return Logger.getGlobal();
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
