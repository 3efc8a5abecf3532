package dev.postrider.contracts.crash;

import dev.postrider.testkit.WatchedDataSource;
import java.sql.Connection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A data source that counts the boundaries between what is asked of the database, and says where each is: before every statement,
 * savepoint and commit, and after the commit. An INSERT that also commits is both; the call of {@code commit} that follows it asks
 * nothing of the database. At one of the boundaries it stops for ever.
 */
final class Boundaries extends WatchedDataSource {

    private static final Set<String> ASKED =
            Set.of("execute", "executeQuery", "executeUpdate", "executeBatch", "setSavepoint", "releaseSavepoint");

    private final int stopAt;
    private final AtomicInteger passed = new AtomicInteger();
    private final Set<Connection> committed = ConcurrentHashMap.newKeySet();
    private final Gate closed = new Gate();

    /** @param stopAt from 1; 0 for nowhere */
    Boundaries(DataSource target, int stopAt) {
        super(target);
        this.stopAt = stopAt;
        closed.set(false);
    }

    @Override
    protected Object on(Call call) throws Throwable {
        String sql = call.sql();
        boolean isAsked = ASKED.contains(call.name());
        boolean isInsertAndCommit = isAsked && sql != null && sql.contains("INSERT INTO") && sql.endsWith("COMMIT");
        if (call.isCommit() && committed.remove(call.connection())) {
            return call.proceed();
        }
        if (isAsked || call.isCommit()) {
            reach(sql == null ? call.name() : sql);
        }
        Object answer = call.proceed();
        if (isInsertAndCommit) {
            committed.add(call.connection());
        }
        if (isInsertAndCommit || call.isCommit()) {
            reach("committed");
        }
        return answer;
    }

    private void reach(String place) throws InterruptedException {
        int number = passed.incrementAndGet();
        String withoutSchema = place.replaceAll("[`\"]\\w+[`\"]\\.", "");
        Parent.tell("boundary", number, withoutSchema.strip().replaceAll("\\s+", "_"));
        if (number == stopAt) {
            closed.pass();
        }
    }
}
