package dev.postrider.testkit;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A data source that counts statements and commits, and runs a hook before or after one of them. The hook can end the process, or
 * simulate a broken connection. So a test can interrupt a transaction at every possible place. Thread-safe.
 */
public final class StatementHooks extends WatchedDataSource {

    /** The action to run. If it throws, the statement throws the same exception, and the connection is broken from then on. */
    @FunctionalInterface
    public interface Hook {
        void run() throws Exception;
    }

    private record Armed(int number, boolean before, Hook hook) {}

    private final AtomicInteger count = new AtomicInteger();
    private final AtomicBoolean fired = new AtomicBoolean();
    private final Set<Connection> broken = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Armed armed;

    public StatementHooks(DataSource target) {
        super(target);
    }

    /**
     * Sets the hook and restarts the count of statements and commits. The hook runs once.
     *
     * @param number the statement or commit, from 1
     * @param before whether the hook runs before the statement is sent, or after the database has answered it
     */
    public void at(int number, boolean before, Hook hook) {
        count.set(0);
        fired.set(false);
        armed = new Armed(number, before, hook);
    }

    /** Breaks the connection at this statement: before the statement is sent, or after it was executed and before its answer. */
    public void breakAt(int number, boolean before) {
        at(number, before, () -> {
            throw new SQLException("The connection broke", "08006");
        });
    }

    /** Removes the hook, and returns whether it has run. */
    public boolean disarm() {
        armed = null;
        return fired.get();
    }

    @Override
    protected Object on(Call call) throws Throwable {
        boolean ends = call.sql() == null
                && (call.name().equals("close") || call.name().equals("isClosed"));
        if (!ends && broken.contains(call.connection())) {
            throw new SQLException("The connection is broken", "08006");
        }
        if (!call.isCommit() && !call.isExecution()) {
            return call.proceed();
        }
        int number = count.incrementAndGet();
        fire(call.connection(), number, true);
        Object answer = call.proceed();
        fire(call.connection(), number, false);
        return answer;
    }

    private void fire(Connection connection, int number, boolean before) throws Exception {
        Armed now = armed;
        if (now != null && now.number() == number && now.before() == before && fired.compareAndSet(false, true)) {
            try {
                now.hook().run();
            } catch (Exception e) {
                broken.add(connection);
                if (!connection.getAutoCommit()) {
                    connection.rollback(); // as a server does when a connection is lost
                }
                throw e;
            }
        }
    }
}
