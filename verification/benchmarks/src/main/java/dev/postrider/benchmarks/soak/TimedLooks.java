package dev.postrider.benchmarks.soak;

import dev.postrider.testkit.WatchedDataSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import javax.sql.DataSource;

/** Measures the duration of some statements. Thread-safe. */
final class TimedLooks extends WatchedDataSource {

    private final Predicate<String> which;
    private final ConcurrentLinkedQueue<Long> micros = new ConcurrentLinkedQueue<>();

    TimedLooks(DataSource target, Predicate<String> which) {
        super(target);
        this.which = which;
    }

    @Override
    protected Object on(Call call) throws Throwable {
        String sql = call.sql();
        if (sql == null || !call.isExecution() || !which.test(sql)) {
            return call.proceed();
        }
        long start = System.nanoTime();
        Object answer = call.proceed();
        micros.add((System.nanoTime() - start) / 1000);
        return answer;
    }

    List<Long> take() {
        List<Long> taken = new ArrayList<>();
        for (Long next = micros.poll(); next != null; next = micros.poll()) {
            taken.add(next);
        }
        return taken;
    }
}
