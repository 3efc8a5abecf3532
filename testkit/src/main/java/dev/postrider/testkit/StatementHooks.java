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
 * A data source that counts statements and commits, and does something before or after one of them: dies, or behaves as if the
 * connection had broken there. With it a test can go through every place at which a transaction can be cut off. Thread-safe.
 */
public final class StatementHooks extends WatchedDataSource {

    /** What is done at that moment. What it throws comes out of the statement, and the connection is of no use from then on. */
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
                    connection.rollback(); // as the server does when it notices
                }
                throw e;
            }
        }
    }
}
