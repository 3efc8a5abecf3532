package dev.postrider.testkit;

import javax.sql.DataSource;

/**
 * A data source that does something just before or just after each commit, to see what others make of the time between: after the
 * last statement of a transaction, or after the database has decided and before the application has heard of it. What a hook throws
 * comes out of the commit. Thread-safe.
 */
public final class CommitHooks extends WatchedDataSource {

    /** What is done at that moment. */
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
