package dev.postrider.testkit;

import javax.sql.DataSource;

/**
 * A data source that runs a hook just before or just after each commit. A test can use it to act while a transaction is written and
 * not yet committed, or while it is committed and the application does not have the result yet. The commit throws any exception of
 * the hook. Thread-safe.
 *
 * <p>On PostgreSQL Postrider commits together with its last INSERT, and the hooks come too late. Switch that off with
 * {@code tables(tables -> tables.commitWithInsert(false))}.
 */
public final class CommitHooks extends WatchedDataSource {

    /** The action to run. */
    @FunctionalInterface
    public interface Hook {
        void run() throws Exception;
    }

    private static final Hook NOTHING = () -> {};

    private volatile Hook before = NOTHING;
    private volatile Hook after = NOTHING;

    public CommitHooks(DataSource target) {
        super(target);
    }

    /** Runs this hook before each later commit. It replaces the earlier hook. */
    public void beforeCommit(Hook hook) {
        before = hook;
    }

    /** Runs this hook after each later commit, before the call of commit returns. It replaces the earlier hook. */
    public void afterCommit(Hook hook) {
        after = hook;
    }

    /** Removes both hooks. */
    public void clear() {
        before = NOTHING;
        after = NOTHING;
    }

    @Override
    protected Object on(Call call) throws Throwable {
        if (!call.isCommit()) {
            return call.proceed();
        }
        before.run();
        Object answer = call.proceed();
        after.run();
        return answer;
    }
}
