package dev.postrider.benchmarks.contender;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import dev.postrider.benchmarks.database.Arena;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * db-scheduler with one-time tasks, which are deleted when done. Lock-and-fetch is its fastest way of polling, and a batch of one its
 * fastest way of scheduling. With {@link #triggered}, a call after each commit triggers a check.
 */
final class DbScheduler implements Contender {

    private static final String TABLE = "scheduled_tasks";
    private static final int THREADS = 20;
    private static final int FILL = 1000;

    private static final List<String> SCHEMA = List.of(
            """
            CREATE TABLE IF NOT EXISTS scheduled_tasks (
                task_name text NOT NULL, task_instance text NOT NULL, task_data bytea, execution_time timestamptz NOT NULL,
                picked boolean NOT NULL, picked_by text, last_success timestamptz, last_failure timestamptz,
                consecutive_failures int, last_heartbeat timestamptz, version bigint NOT NULL, priority smallint,
                PRIMARY KEY (task_name, task_instance))
            """,
            "CREATE INDEX IF NOT EXISTS execution_time_idx ON scheduled_tasks (execution_time)",
            "CREATE INDEX IF NOT EXISTS last_heartbeat_idx ON scheduled_tasks (last_heartbeat)");

    private final Arena arena;
    private final DataSource dataSource;
    private final boolean triggered;
    private final Transactions transactions;
    private final SchedulerClient client;
    private volatile @Nullable Scheduler scheduler;

    private DbScheduler(Arena arena, DataSource dataSource, boolean triggered) {
        this.arena = arena;
        this.dataSource = dataSource;
        this.triggered = triggered;
        this.transactions = new Transactions(dataSource);
        this.client = SchedulerClient.Builder.create(transactions, task(new Receiver(0)))
                .build();
    }

    static Contender polling(Arena arena, DataSource dataSource) {
        return new DbScheduler(arena, dataSource, false);
    }

    /** Triggers a check after each commit: its best latency. */
    static Contender triggered(Arena arena, DataSource dataSource) {
        return new DbScheduler(arena, dataSource, true);
    }

    private static OneTimeTask<String> task(Receiver receiver) {
        return Tasks.oneTime("order-placed", String.class)
                .execute((instance, context) -> receiver.receive(Order.numberIn(instance.getData())));
    }

    private static TaskInstance<?> instance(int number) {
        return new TaskInstance<>("order-placed", "order-" + number, new Order(number).json());
    }

    @Override
    public String name() {
        return "db-scheduler";
    }

    @Override
    public void prepare() {
        arena.execute(SCHEMA);
    }

    @Override
    public void clear() {
        arena.empty(List.of(TABLE));
    }

    @Override
    public void transact(Order order) throws Exception {
        transactions.run(connection -> {
            order.insert(connection);
            client.scheduleBatch(List.of(instance(order.number())), Instant.now());
        });
        Scheduler running = scheduler;
        if (triggered && running != null) {
            running.triggerCheckForDueExecutions();
        }
    }

    @Override
    public void fill(int messages) throws Exception {
        for (int start = 0; start < messages; start += FILL) {
            List<TaskInstance<?>> batch = IntStream.range(start, Math.min(start + FILL, messages))
                    .<TaskInstance<?>>mapToObj(DbScheduler::instance)
                    .toList();
            transactions.run(connection -> client.scheduleBatch(batch, Instant.now()));
        }
    }

    @Override
    public void start(Receiver receiver) {
        Scheduler started = Scheduler.create(dataSource, task(receiver))
                .threads(THREADS)
                .pollUsingLockAndFetch(triggered ? 4 : 10, triggered ? 20 : 50)
                .pollingInterval(Duration.ofMillis(triggered ? 50 : 10))
                .shutdownMaxWait(Duration.ofSeconds(10))
                .build();
        scheduler = started;
        started.start();
    }

    @Override
    public void stop() {
        Scheduler running = scheduler;
        if (running != null) {
            running.stop();
            scheduler = null;
        }
    }

    @Override
    public long unfinished() {
        return arena.count(TABLE);
    }

    @Override
    public void close() {
        stop();
    }
}
