package dev.postrider.benchmarks.contender;

import dev.postrider.benchmarks.database.Arena;
import io.namastack.outbox.Outbox;
import io.namastack.outbox.handler.OutboxRecordMetadata;
import io.namastack.outbox.handler.OutboxTypedHandler;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.Banner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Namastack Outbox for JDBC in its own Spring Boot application. It cannot write without delivery. So the application that only writes
 * polls once an hour, and is closed before the one that delivers starts.
 */
final class Namastack implements Contender {

    private static final List<String> TABLES = List.of("outbox_record", "outbox_instance", "outbox_partition");
    private static final int FILL = 1000;

    /** It delivers one key in sequence and different keys in parallel; this many keys are its fastest. */
    private static final int KEYS = 1000;

    private static final String MODULITH = "org.springframework.modulith.events.";

    private static final Map<String, Object> SETTINGS = Map.of(
            "spring.autoconfigure.exclude",
                    MODULITH + "config.EventPublicationAutoConfiguration," + MODULITH
                            + "config.EventExternalizationAutoConfiguration," + MODULITH
                            + "jdbc.JdbcEventPublicationAutoConfiguration",
            "namastack.outbox.polling.batch-size", 1000,
            "namastack.outbox.processing.delete-completed-records", true,
            "namastack.outbox.processing.executor-core-pool-size", 20,
            "namastack.outbox.processing.executor-max-pool-size", 20,
            "namastack.outbox.multicaster.enabled", false,
            "spring.threads.virtual.enabled", true,
            "spring.main.keep-alive", false,
            "spring.main.log-startup-info", false);

    private final Arena arena;
    private final DataSource dataSource;
    private @Nullable Application application;

    Namastack(Arena arena, DataSource dataSource) {
        this.arena = arena;
        this.dataSource = new DelegatingDataSource(dataSource); // which is not closed with the application
    }

    /** The record of an order. Public, since it is made from JSON. */
    public record OrderPlaced(String json) {}

    /** The handler of the record. */
    record Delivery(Receiver receiver) implements OutboxTypedHandler<OrderPlaced> {
        @Override
        public void handle(OrderPlaced event, OutboxRecordMetadata metadata) {
            receiver.receive(Order.numberIn(event.json()));
        }
    }

    /** Spring Boot's auto-configuration. */
    @SpringBootConfiguration
    @EnableAutoConfiguration
    static class Configuration {}

    private final class Application {

        private final ConfigurableApplicationContext context;
        private final Outbox outbox;
        private final TransactionTemplate transactions;

        Application(Receiver receiver, String pollInterval) {
            System.setProperty("org.springframework.boot.logging.LoggingSystem", "none");
            Map<String, Object> settings = new HashMap<>(SETTINGS);
            settings.put("namastack.outbox.polling.fixed.interval", pollInterval);
            context = new SpringApplicationBuilder(Configuration.class)
                    .web(WebApplicationType.NONE)
                    .bannerMode(Banner.Mode.OFF)
                    .registerShutdownHook(false)
                    .properties(settings)
                    .initializers(fresh -> {
                        GenericApplicationContext beans = (GenericApplicationContext) fresh;
                        beans.registerBean("dataSource", DataSource.class, () -> dataSource);
                        beans.registerBean("delivery", Delivery.class, () -> new Delivery(receiver));
                    })
                    .run();
            outbox = context.getBean(Outbox.class);
            transactions = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
        }

        void schedule(Order order) {
            outbox.schedule(new OrderPlaced(order.json()), "customer-" + order.number() % KEYS);
        }
    }

    @Override
    public String name() {
        return "Namastack";
    }

    @Override
    public void prepare() {
        application();
    }

    @Override
    public void clear() {
        stop();
        arena.empty(TABLES);
        application();
    }

    /** The running application, or a new one that only writes. */
    private synchronized Application application() {
        Application running = application;
        if (running == null) {
            running = new Application(new Receiver(0), "1h");
            application = running;
        }
        return running;
    }

    @Override
    public void transact(Order order) {
        Application running = application();
        running.transactions.executeWithoutResult(status -> {
            insert(order);
            running.schedule(order);
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
        Application running = application();
        for (int start = 0; start < messages; start += FILL) {
            int first = start;
            running.transactions.executeWithoutResult(status -> {
                for (int number = first; number < Math.min(first + FILL, messages); number++) {
                    running.schedule(new Order(number));
                }
            });
        }
    }

    @Override
    public synchronized void start(Receiver receiver) {
        stop();
        application = new Application(receiver, "10ms");
    }

    @Override
    public synchronized void stop() {
        Application running = application;
        if (running != null) {
            running.context.close();
            application = null;
        }
    }

    @Override
    public long unfinished() {
        return arena.count("outbox_record");
    }

    @Override
    public void close() {
        stop();
    }
}
