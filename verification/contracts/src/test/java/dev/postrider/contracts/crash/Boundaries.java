package dev.postrider.contracts.crash;

import dev.postrider.testkit.WatchedDataSource;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/**
 * A data source that counts the boundaries between what is asked of the database, and says where each is: before every statement,
 * savepoint and commit, and after the commit. At one of them it stops for ever.
 */
final class Boundaries extends WatchedDataSource {

    private static final Set<String> ASKED =
            Set.of("execute", "executeQuery", "executeUpdate", "executeBatch", "setSavepoint", "releaseSavepoint");

    private final int stopAt;
    private final AtomicInteger passed = new AtomicInteger();
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
        if (ASKED.contains(call.name()) || call.isCommit()) {
            reach(sql == null ? call.name() : sql);
        }
        Object answer = call.proceed();
        if (call.isCommit()) {
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
