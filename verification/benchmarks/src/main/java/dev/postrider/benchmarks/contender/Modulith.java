package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Arena;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.task.TaskExecutor;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.modulith.events.ApplicationModuleListener;
import org.springframework.modulith.events.IncompleteEventPublications;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Spring Modulith's event publication registry on JDBC, which deletes finished publications. It calls its listeners right after the
 * commit. Publications that were not delivered, here because delivery was off, are resubmitted on {@link #start}.
 */
final class Modulith implements Contender {

    private static final List<String> TABLES = List.of("event_publication");
    private static final int THREADS = 20;
    private static final int FILL = 1000;

    private static final Map<String, Object> SETTINGS = Map.of(
            "spring.modulith.events.completion-mode", "delete",
            "spring.modulith.events.jdbc.schema-initialization.enabled", true,
            "namastack.outbox.enabled", false,
            "spring.main.keep-alive", false,
            "spring.main.log-startup-info", false);

    private final Arena arena;
    private final DataSource dataSource;
    private final Gate gate = new Gate();
    private final Delivery delivery = new Delivery();
    private @Nullable ConfigurableApplicationContext context;
    private @Nullable TransactionTemplate transactions;
    private @Nullable Thread resubmission;

    Modulith(Arena arena, DataSource dataSource) {
        this.arena = arena;
        this.dataSource = new DelegatingDataSource(dataSource); // which is not closed with the application
    }

    /** The event of an order. Public, since it is made from JSON. */
    public record OrderPlaced(String json) {}

    /** The listener of the event. Neither final nor private: Spring makes a subclass of it. */
    public static class Delivery {

        private volatile Receiver receiver = new Receiver(0);

        @ApplicationModuleListener
        public void on(OrderPlaced event) {
            receiver.receive(Order.numberIn(event.json()));
        }

        public void receiver(Receiver next) {
            receiver = next;
        }
    }

    /** Runs the listeners during delivery, and drops their tasks otherwise, as a process that ended would. */
    private static final class Gate implements TaskExecutor {

        private volatile @Nullable ExecutorService threads;

        @Override
        public void execute(Runnable task) {
            ExecutorService running = threads;
            if (running != null) {
                running.execute(task);
            }
        }

        void open() {
            threads = Executors.newFixedThreadPool(THREADS);
        }

        void close() {
            ExecutorService running = threads;
            threads = null;
            if (running != null) {
                running.shutdown();
                try {
                    running.awaitTermination(30, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    /** Spring Boot's auto-configuration. */
    @SpringBootConfiguration
    @EnableAutoConfiguration
    @EnableAsync
    static class Configuration {}

    @Override
    public String name() {
        return "Modulith";
    }

    @Override
    public void prepare() {
        System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
        context = new SpringApplicationBuilder(Configuration.class)
                .web(WebApplicationType.NONE)
                .bannerMode(Banner.Mode.OFF)
                .registerShutdownHook(false)
                .properties(SETTINGS)
                .initializers(fresh -> {
                    GenericApplicationContext beans = (GenericApplicationContext) fresh;
                    beans.registerBean("dataSource", DataSource.class, () -> dataSource);
                    beans.registerBean("taskExecutor", TaskExecutor.class, () -> gate);
                    beans.registerBean("delivery", Delivery.class, () -> delivery);
                })
                .run();
        transactions = new TransactionTemplate(context().getBean(PlatformTransactionManager.class));
    }

    private ConfigurableApplicationContext context() {
        if (context == null) {
            throw new IllegalStateException("Not prepared");
        }
        return context;
    }

    private TransactionTemplate transactions() {
        if (transactions == null) {
            throw new IllegalStateException("Not prepared");
        }
        return transactions;
    }

    @Override
    public void clear() {
        arena.empty(TABLES);
    }

    @Override
    public void transact(Order order) {
        transactions().executeWithoutResult(status -> {
            insert(order);
            context().publishEvent(new OrderPlaced(order.json()));
        });
    }

    private void insert(Order order) {
        Connection connection = DataSourceUtils.getConnection(dataSource);
        try {
            order.insert(connection);
        } catch (SQLException e) {
            throw new IllegalStateException("The order was not written", e);
        } finally {
            DataSourceUtils.releaseConnection(connection, dataSource);
        }
    }

    @Override
    public void fill(int messages) {
        for (int start = 0; start < messages; start += FILL) {
            int first = start;
            transactions().executeWithoutResult(status -> {
                for (int number = first; number < Math.min(first + FILL, messages); number++) {
                    context().publishEvent(new OrderPlaced(new Order(number).json()));
                }
            });
        }
    }

    /** The resubmission returns when the whole backlog is queued, and much of it is delivered by then. So it has a thread of its own. */
    @Override
    public void start(Receiver receiver) {
        delivery.receiver(receiver);
        gate.open();
        IncompleteEventPublications incomplete = context().getBean(IncompleteEventPublications.class);
        resubmission = new Thread(
                () -> incomplete.resubmitIncompletePublications(publication -> true), "modulith-resubmission");
        resubmission.start();
    }

    @Override
    public void stop() {
        awaitResubmission();
        gate.close();
    }

    private void awaitResubmission() {
        Thread running = resubmission;
        resubmission = null;
        if (running != null) {
            try {
                running.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    public long unfinished() {
        return arena.count("event_publication");
    }

    @Override
    public void close() {
        stop();
        if (context != null) {
            context.close();
        }
    }
}
