package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Arena;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jobrunr.jobs.lambdas.JobRequest;
import org.jobrunr.jobs.lambdas.JobRequestHandler;
import org.jobrunr.jobs.mappers.JobMapper;
import org.jobrunr.scheduling.JobRequestScheduler;
import org.jobrunr.server.BackgroundJobServer;
import org.jobrunr.server.BackgroundJobServerConfiguration;
import org.jobrunr.server.JobActivator;
import org.jobrunr.storage.StorageProvider;
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider;
import org.jobrunr.utils.mapper.JsonMapper;
import org.jobrunr.utils.mapper.gson.GsonJsonMapper;
import org.jspecify.annotations.Nullable;

/**
 * JobRunr. Its open-source edition does not take part in the caller's transaction: it writes the job in its own transaction, after
 * the order's. Finished jobs stay in its table for a day or more.
 */
final class JobRunr implements Contender {

    /** The shortest interval that it allows. */
    private static final Duration POLL = Duration.ofSeconds(5);

    private static final int FILL = 1000;

    /** It uses virtual threads where they exist, and there may be many. */
    private static final int WORKERS = Runtime.version().feature() >= 21 ? 300 : 50;

    private final Arena arena;
    private final DataSource dataSource;
    private final JsonMapper json = new GsonJsonMapper();
    private @Nullable StorageProvider storage;
    private @Nullable JobRequestScheduler scheduler;
    private @Nullable BackgroundJobServer server;

    JobRunr(Arena arena, DataSource dataSource) {
        this.arena = arena;
        this.dataSource = dataSource;
    }

    /** The job of an order. Public, like its handler, since it is called by reflection. */
    public static final class OrderPlaced implements JobRequest {

        @SuppressWarnings("FieldMayBeFinal") // written by the mapper
        private String json;

        OrderPlaced(String json) {
            this.json = json;
        }

        @Override
        public Class<Delivery> getJobRequestHandler() {
            return Delivery.class;
        }
    }

    /** The handler of the job. */
    public static final class Delivery implements JobRequestHandler<OrderPlaced> {

        private final Receiver receiver;

        Delivery(Receiver receiver) {
            this.receiver = receiver;
        }

        @Override
        public void run(OrderPlaced request) {
            receiver.receive(Order.numberIn(request.json));
        }
    }

    /** Creates the handlers with their receiver. */
    private record Activator(Receiver receiver) implements JobActivator {
        @Override
        public <T> T activateJob(Class<T> type) {
            return type.cast(new Delivery(receiver));
        }
    }

    @Override
    public String name() {
        return "JobRunr";
    }

    @Override
    public void prepare() {
        StorageProvider prepared = new PostgresStorageProvider(dataSource);
        prepared.setJobMapper(new JobMapper(json));
        storage = prepared;
        scheduler = new JobRequestScheduler(prepared);
    }

    private StorageProvider storage() {
        if (storage == null) {
            throw new IllegalStateException("Not prepared");
        }
        return storage;
    }

    private JobRequestScheduler scheduler() {
        if (scheduler == null) {
            throw new IllegalStateException("Not prepared");
        }
        return scheduler;
    }

    @Override
    public void clear() {
        arena.empty(List.of("jobrunr_jobs", "jobrunr_backgroundjobservers"));
    }

    @Override
    public void transact(Order order) throws Exception {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            order.insert(connection);
            connection.commit();
            connection.setAutoCommit(true);
        }
        scheduler().enqueue(new OrderPlaced(order.json()));
    }

    @Override
    public void fill(int messages) {
        for (int start = 0; start < messages; start += FILL) {
            scheduler()
                    .enqueue(IntStream.range(start, Math.min(start + FILL, messages))
                            .mapToObj(number -> new OrderPlaced(new Order(number).json())));
        }
    }

    @Override
    public void start(Receiver receiver) {
        BackgroundJobServer started = new BackgroundJobServer(
                storage(),
                json,
                new Activator(receiver),
                BackgroundJobServerConfiguration.usingStandardBackgroundJobServerConfiguration()
                        .andPollInterval(POLL)
                        .andWorkerCount(WORKERS));
        server = started;
        started.start();
    }

    @Override
    public void stop() {
        if (server != null) {
            server.stop();
            server = null;
        }
    }

    @Override
    public long unfinished() {
        return arena.number("SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'");
    }

    @Override
    public void close() {
        stop();
        if (storage != null) {
            storage.close();
        }
    }
}
