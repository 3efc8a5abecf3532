package dev.postrider.benchmarks.measurement;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.postrider.Postrider;
import dev.postrider.benchmarks.contender.Order;
import dev.postrider.dispatch.Topic;
import dev.postrider.message.Message;
import dev.postrider.transport.Delivery;
import dev.postrider.transport.DeliveryResult;
import dev.postrider.transport.Transport;
import java.lang.management.ManagementFactory;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;

/** The process with the small heap. It keeps only a count, so that the heap is used by Postrider. */
final class SmallHeapProcess {

    static final String DONE = "delivered all of ";

    private static final int KEYS = 1000;
    private static final int BYTES = 2048;
    private static final int BATCH = 1000;

    private SmallHeapProcess() {}

    private static String topic(boolean ordered) {
        return ordered ? "large-orders-in-order" : "large-orders";
    }

    private static Topic.Builder inOrder(Topic.Builder topic, boolean ordered) {
        return ordered ? topic.ordered() : topic;
    }

    static void fill(DataSource dataSource, int messages, boolean ordered) throws SQLException {
        try (Postrider postrider = Postrider.on(dataSource)
                        .topic(topic(ordered), topic -> inOrder(topic, ordered))
                        .build();
                Connection connection = dataSource.getConnection()) {
            postrider.register();
            connection.setAutoCommit(false);
            for (int start = 0; start < messages; start += BATCH) {
                List<Message> batch = new ArrayList<>();
                for (int number = start; number < Math.min(start + BATCH, messages); number++) {
                    batch.add(Message.to(topic(ordered))
                            .type("order.placed")
                            .key("customer-" + number % KEYS)
                            .json(new Order(number).json(BYTES))
                            .build());
                }
                postrider.outbox(connection).enqueueAll(batch);
                connection.commit();
            }
            connection.setAutoCommit(true);
        }
    }

    public static void main(String[] arguments) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(arguments[0]);
        if (!arguments[1].isEmpty()) { // otherwise they are part of the URL
            config.setUsername(arguments[1]);
            config.setPassword(arguments[2]);
        }
        int messages = Integer.parseInt(arguments[3]);
        boolean ordered = Boolean.parseBoolean(arguments[4]);
        CountDownLatch left = new CountDownLatch(messages);
        try (HikariDataSource dataSource = new HikariDataSource(config);
                Postrider postrider = Postrider.on(dataSource)
                        .topic(topic(ordered), topic -> inOrder(topic, ordered).deliver(new Counting(left)))
                        .build()) {
            postrider.start();
            boolean done = left.await(10, TimeUnit.MINUTES);
            long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / 1024 / 1024;
            System.out.println((done ? DONE : "missed " + left.getCount() + " of ") + messages + ", " + used
                    + " MiB of " + Runtime.getRuntime().maxMemory() / 1024 / 1024 + " MiB in use at the end");
        }
    }

    private record Counting(CountDownLatch left) implements Transport {

        @Override
        public CompletionStage<DeliveryResult> deliver(Delivery delivery) {
            left.countDown();
            return CompletableFuture.completedFuture(DeliveryResult.delivered());
        }

        @Override
        public Duration timeout() {
            return Duration.ofSeconds(10);
        }
    }
}
